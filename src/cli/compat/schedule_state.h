// ScheduleState: the settings of `schedule -i` for all users of a machine. They say how many GPUs
// there are and which of them are closed, and are kept in a file beside the device locks.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "base/fd.h"
#include "base/result.h"

namespace berth {

struct ScheduleState {
  std::uint32_t total = 0;       // 0: never set
  std::set<std::string> closed;  // names of GPUs that are not to be used
};

inline constexpr std::uint32_t kMostScheduleGpus = 1024;

/// Reads the file. Nothing is set if the file does not exist or makes no sense.
ScheduleState read_schedule_state();

/// Replaces the settings under a lock, so that no other process changes them at the same time.
Result<void> set_schedule_state(const ScheduleState& state);
/// Opens closed GPUs again; returns those of `names` that were closed.
Result<std::vector<std::string>> open_closed_gpus(const std::vector<std::string>& names);

/// A descriptor that is readable when the file has changed. Drain it before reading the file again.
/// Empty if nothing was ever set.
Fd watch_schedule_state();
void drain_watch(int watch);

}  // namespace berth
