// What a checkpoint carries from one scheduler to the next, besides the devices. The new scheduler
// learns the devices, then all jobs as they stand (Restore with a Standing, in order of id), and
// then the books. From there on it decides as the first scheduler does.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <vector>

#include "base/units.h"
#include "core/job.h"
#include "core/policy.h"

namespace berth {

/// Where a job stands, beyond what a new process could find out by itself.
struct Standing {
  Time timer = kNever;            // of a job with devices: when to look at it again
  std::optional<Rank> rank = {};  // of a competing job, if Policy::ranks_by_history()
  std::vector<Bytes> used = {};   // on each of its devices, where that exceeds its claim
};

/// The state that belongs to neither a job nor a device.
struct SchedulerBooks {
  bool paused = false;
  std::size_t settled = 0;  // followers that have learned of an end since the last step
  PolicyBooks policy = {};

  friend bool operator==(const SchedulerBooks&, const SchedulerBooks&) = default;
};

/// The jobs with ids below `below` that were changed, added or removed; see Scheduler::watch().
struct JobChanges {
  JobId below{};
  std::set<JobId> jobs = {};
};

}  // namespace berth
