// Time as the scheduler knows it: whole nanoseconds on a line whose origin the driver chooses.
// There is no clock here on purpose: core is told the time, it never asks.
#pragma once

#include <chrono>
#include <cstdint>

namespace berth {

using Duration = std::chrono::duration<std::int64_t, std::nano>;

struct Timeline {
  using rep = Duration::rep;
  using period = Duration::period;
  using duration = Duration;
  using time_point = std::chrono::time_point<Timeline>;
  static constexpr bool is_steady = true;
};

using Time = Timeline::time_point;

inline constexpr Time kNever = Time::max();
inline constexpr Duration kForever = Duration::max();

/// `from + length` that stops at kNever instead of wrapping around.
constexpr Time add_saturating(Time from, Duration length) {
  return from > kNever - length ? kNever : from + length;
}

constexpr double to_seconds(Duration d) { return std::chrono::duration<double>(d).count(); }

}  // namespace berth
