#include "cli/results/log_metric.h"

#include <fmt/format.h>

namespace berth {
namespace {

/// std::regex recurses for each character; a longer line could overflow the stack.
constexpr std::size_t kLongestLine = 4096;

std::optional<std::string> last_in_line(std::string_view line, const std::regex& regex) {
  line.remove_prefix(line.size() > kLongestLine ? line.size() - kLongestLine : 0);
  std::optional<std::string> found;
  using Matches = std::regex_iterator<std::string_view::const_iterator>;
  try {
    for (Matches match(line.begin(), line.end(), regex); match != Matches(); ++match) {
      found = (*match)[1].str();
    }
  } catch (const std::regex_error&) {
    // The pattern takes too long on this line, which then has no match.
  }
  return found;
}

}  // namespace

Result<LogMetric> LogMetric::parse(std::string_view pattern) {
  std::string text(pattern);
  try {
    std::regex regex(text);
    if (regex.mark_count() == 0) {
      regex = std::regex("(?:" + text + R"re()["']?\s*[:=]?\s*["']?([^\s"',;:={}()\[\]]+))re");
    }
    return LogMetric(std::move(text), std::move(regex));
  } catch (const std::regex_error& error) {
    return fail(ErrorCode::Usage,
                fmt::format("{} is not a regular expression: {}", pattern, error.what()));
  }
}

std::optional<std::string> LogMetric::last_in(std::string_view log) const {
  while (!log.empty()) {
    const std::size_t end = log.find_last_of("\r\n");  // progress bars end lines by \r alone
    const std::size_t start = end == log.npos ? 0 : end + 1;
    if (std::optional<std::string> found = last_in_line(log.substr(start), regex_)) {
      return found;
    }
    log = log.substr(0, end == log.npos ? 0 : end);
  }
  return std::nullopt;
}

}  // namespace berth
