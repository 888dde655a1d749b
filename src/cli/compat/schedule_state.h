// ScheduleState: what `schedule -i` has set for all users of a machine: how many GPUs there are and
// which of them are closed. Kept in a file beside the device locks.
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

/// What the file says; nothing set where there is none or it makes no sense.
ScheduleState read_schedule_state();

/// Changes what is there, while nobody else does.
Result<void> set_schedule_state(const ScheduleState& state);
/// Opens closed GPUs again; returns those of `names` that were closed.
Result<std::vector<std::string>> open_closed_gpus(const std::vector<std::string>& names);

/// A descriptor that is readable when the file has changed; it is to be drained before the file is
/// read again. Empty where nothing was ever set.
Fd watch_schedule_state();
void drain_watch(int watch);

}  // namespace berth
