#include "daemon/handlers/time_parameter.h"

#include <fmt/format.h>

#include "base/units.h"

namespace berth {

Result<Time> time_parameter(const HttpRequest& request, std::string_view name, Time otherwise) {
  constexpr double kMost = 9e9;
  const std::optional<std::string_view> text = request.parameter(name);
  if (!text) {
    return otherwise;
  }
  const Result<double> seconds = parse_real(*text, name);
  if (!seconds) {
    return Failure(seconds.error());
  }
  if (!(*seconds >= 0 && *seconds <= kMost)) {
    return fail(ErrorCode::Usage, fmt::format("{} is in seconds since 1970", name));
  }
  return Time(Duration(static_cast<std::int64_t>(*seconds * 1e9)));
}

}  // namespace berth
