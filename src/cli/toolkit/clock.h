// The time of day, for users and as in the daemon's answers.
#pragma once

#include <string>

#include "base/time.h"

namespace berth {

/// Since 1970.
Time wall_clock();
/// The same in seconds, as in the daemon's answers.
double wall_clock_seconds();

/// "2026-11-16 08:00:00" in local time, from seconds since 1970; empty for 0 and less.
std::string local_time(double seconds);
/// "14:20" for a time of today, else "2026-11-20 14:20".
std::string clock_time(double seconds);

}  // namespace berth
