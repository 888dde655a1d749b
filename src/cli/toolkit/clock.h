// The time of day, as people and the daemon's answers tell it.
#pragma once

#include <string>

#include "base/time.h"

namespace berth {

/// Since 1970.
Time wall_clock();
/// The same, as the daemon's answers have it.
double wall_clock_seconds();

/// "2026-11-16 08:00:00", of seconds since 1970 where the user is; empty for 0 and less.
std::string local_time(double seconds);

}  // namespace berth
