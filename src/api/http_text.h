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

/// All but letters, digits and `-._~`: fit for a segment of a path and for a query.
std::string percent_encode(std::string_view text);

struct Target {
  std::string path;                                        // decoded
  std::vector<std::pair<std::string, std::string>> query;  // decoded, in order
};

/// `/path?name=value&…`, or `*`. Nothing when it is something else, is not well encoded, or hides a
/// NUL.
std::optional<Target> parse_target(std::string_view target);

/// Whether two words are the same, whatever the case of their ASCII letters.
bool equal_ignoring_case(std::string_view a, std::string_view b);

/// "Not Found".
std::string_view reason_phrase(int status);

/// What a response's head says.
struct ResponseHead {
  int status = 200;
  std::string_view type;
  const std::vector<std::pair<std::string, std::string>>* headers = nullptr;  // further ones
  std::optional<std::size_t> length;  // none: the body ends with the connection
  bool keep_alive = true;
};

/// Appends the head with the blank line. Headers that would break the message are left out.
void append_head(std::string& out, const ResponseHead& head);

/// Appends one server-sent event; each line of `data` gets a `data:` line.
void append_event(std::string& out, std::uint64_t id, std::string_view event,
                  std::string_view data);

/// A comment: keeps a stream alive and tells nothing.
inline constexpr std::string_view kHeartbeat = ":\n\n";

}  // namespace berth
