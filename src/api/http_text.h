// The text of HTTP that berth reads and writes itself: targets, queries, response heads and
// server-sent events. Pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace berth {

/// Nothing when a `%` is not followed by two hex digits. `plus_is_space` as in queries.
std::optional<std::string> percent_decode(std::string_view text, bool plus_is_space);

/// Encodes all but letters, digits and `-._~`. The result fits a path segment and a query.
std::string percent_encode(std::string_view text);

struct Target {
  std::string path;                                        // decoded
  std::vector<std::pair<std::string, std::string>> query;  // decoded, in order
};

/// Parses `/path?name=value&…`, or `*`. Nothing for anything else, for a bad encoding or for an
/// encoded NUL.
std::optional<Target> parse_target(std::string_view target);

/// Whether two words are equal, ignoring the case of ASCII letters.
bool equal_ignoring_case(std::string_view a, std::string_view b);

/// "Not Found".
std::string_view reason_phrase(int status);

/// The contents of a response's head.
struct ResponseHead {
  int status = 200;
  std::string_view type;
  const std::vector<std::pair<std::string, std::string>>* headers = nullptr;  // additional headers
  std::optional<std::size_t> length;  // none: the body ends with the connection
  bool keep_alive = true;
};

/// Appends the head with the blank line. Headers that would break the message are omitted.
void append_head(std::string& out, const ResponseHead& head);

/// Appends one server-sent event; each line of `data` gets a `data:` line.
void append_event(std::string& out, std::uint64_t id, std::string_view event,
                  std::string_view data);

/// A comment, which keeps a stream alive and carries no data.
inline constexpr std::string_view kHeartbeat = ":\n\n";

}  // namespace berth
