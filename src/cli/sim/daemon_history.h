// The daemon's own jobs as a workload: what it has run, or what it runs and is to run now.
#pragma once

#include <string>

#include "sim/simulate.h"

namespace berth {

struct DaemonJobs {
  Workload workload;    // with the jobs' numbers as names, and times from `origin` on
  double origin = 0;    // seconds since 1970
  SimRun recorded;      // what became of those that have ended
  Placement placement;  // what the daemon has
};

/// With `queue`, jobs that run and wait; else those that have run and ended. What asks for no GPU
/// is left out. Jobs that ask for more GPUs than `machine` has are taken to ask for all of them.
Result<DaemonJobs> read_daemon_jobs(bool queue, const Machine& machine);

/// The devices that the daemon has, as it knows them; none where no daemon runs.
Machine daemon_machine();

}  // namespace berth
