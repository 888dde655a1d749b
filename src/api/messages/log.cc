#include "api/messages/log.h"

#include <fmt/format.h>

#include <array>
#include <charconv>

namespace berth {
namespace {

constexpr const char* kAttemptHeader = "Berth-Attempt";
constexpr const char* kOffsetHeader = "Berth-Offset";
constexpr const char* kMoreHeader = "Berth-More";
constexpr std::array<std::string_view, 3> kMoreWords = {"now", "later", "no"};

Failure wrong_header(std::string_view name, std::string_view text) {
  return fail(ErrorCode::Unavailable,
              fmt::format("the daemon's answer makes no sense: {} is '{}'", name, text));
}

template <class T>
Result<void> read_header(const HttpReply& reply, const char* name, T& out) {
  const std::string_view text = reply.header(name);
  const auto read = std::from_chars(text.data(), text.data() + text.size(), out);
  if (read.ec != std::errc() || read.ptr != text.data() + text.size()) {
    return wrong_header(name, text);
  }
  return {};
}

}  // namespace

std::vector<std::pair<std::string, std::string>> to_headers(const LogReply& reply) {
  return {{kAttemptHeader, std::to_string(reply.attempt)},
          {kOffsetHeader, std::to_string(reply.offset)},
          {kMoreHeader, std::string(kMoreWords[static_cast<std::size_t>(reply.more)])}};
}

Result<LogReply> parse_log_reply(const HttpReply& reply) {
  LogReply log;
  Result<void> read = read_header(reply, kAttemptHeader, log.attempt);
  if (read) {
    read = read_header(reply, kOffsetHeader, log.offset);
  }
  if (!read) {
    return Failure(read.error());
  }
  const std::string_view more = reply.header(kMoreHeader);
  for (std::size_t i = 0; i < kMoreWords.size(); ++i) {
    if (more == kMoreWords[i]) {
      log.more = static_cast<LogReply::More>(i);
      return log;
    }
  }
  return wrong_header(kMoreHeader, more);
}

}  // namespace berth
