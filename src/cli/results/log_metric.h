// A figure that a job prints, such as its accuracy: the last place in the log where a pattern
// matches. Pure, usable from any thread.
#pragma once

#include <optional>
#include <regex>
#include <string>
#include <string_view>

#include "base/result.h"

namespace berth {

class LogMetric {
 public:
  /// The value is the pattern's first group. A pattern without a group is a name: the value is the
  /// word after it, with or without a colon or an equals sign between.
  static Result<LogMetric> parse(std::string_view pattern);

  const std::string& pattern() const { return pattern_; }
  /// Lines are looked at one by one, from the last; of a very long line only its end.
  std::optional<std::string> last_in(std::string_view log) const;

 private:
  LogMetric(std::string pattern, std::regex regex)
      : pattern_(std::move(pattern)), regex_(std::move(regex)) {}

  std::string pattern_;
  std::regex regex_;
};

}  // namespace berth
