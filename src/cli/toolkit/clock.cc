#include "cli/toolkit/clock.h"

#include <time.h>

#include <chrono>

namespace berth {

Time wall_clock() {
  return Time(
      std::chrono::duration_cast<Duration>(std::chrono::system_clock::now().time_since_epoch()));
}

double wall_clock_seconds() { return to_seconds(wall_clock().time_since_epoch()); }

std::string local_time(double seconds) {
  constexpr double kPastAllYears = 1e17;  // no tm can hold it
  if (!(seconds > 0 && seconds < kPastAllYears)) {
    return "";
  }
  const auto whole = static_cast<time_t>(seconds);
  tm parts{};
  char text[64] = "";
  if (::localtime_r(&whole, &parts) != nullptr) {
    ::strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &parts);
  }
  return text;
}

std::string clock_time(double seconds) {
  constexpr std::size_t kDate = 11;  // "2026-11-20 "
  constexpr std::size_t kMinute = 16;
  const std::string today = local_time(wall_clock_seconds()).substr(0, kDate);
  const std::string when = local_time(seconds).substr(0, kMinute);
  return !when.empty() && when.starts_with(today) ? when.substr(kDate) : when;
}

}  // namespace berth
