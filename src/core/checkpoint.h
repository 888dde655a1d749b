// What a checkpoint carries over from one scheduler to the next, beside the devices. A scheduler
// that is told of the devices, then of all jobs as they stand (Restore with a Standing, in order of
// id), and then gets the books, decides from there on as the first one does.
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
  Time timer = kNever;            // of one with devices: when it must be looked at again
  std::optional<Rank> rank = {};  // of one that competes, where Policy::ranks_by_history()
  std::vector<Bytes> used = {};   // on each of its devices, where that is beyond its claim
};

/// What is neither a job nor a device.
struct SchedulerBooks {
  bool paused = false;
  std::size_t settled = 0;  // followers that have heard of an end since the last step
  PolicyBooks policy = {};

  friend bool operator==(const SchedulerBooks&, const SchedulerBooks&) = default;
};

/// The jobs with ids below `below` that have changed, come or gone; see Scheduler::watch().
struct JobChanges {
  JobId below{};
  std::set<JobId> jobs = {};
};

}  // namespace berth
