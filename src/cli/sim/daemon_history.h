// The daemon's jobs as a workload: the jobs that it has run, or the jobs that run or wait now.
#pragma once

#include <string>

#include "sim/simulate.h"

namespace berth {

struct DaemonJobs {
  Workload workload;    // job numbers are the names, and times count from `origin`
  double origin = 0;    // seconds since 1970
  SimRun recorded;      // the outcomes of the jobs that have ended
  double jobs_j = 0;    // what these drew, as measured; 0 if that is not known
  Placement placement;  // the daemon's placement
  std::string policy;   // the daemon's policy
};

/// With `queue`, the jobs that run or wait; else the jobs that have run and ended. Jobs that ask
/// for no GPU are omitted. A job that asks for more GPUs than `machine` has counts as asking for
/// all of them.
/// `last`: only the jobs that were submitted so long ago at most.
Result<DaemonJobs> read_daemon_jobs(bool queue, const Machine& machine, Duration last = kForever);

/// The daemon's devices, as the daemon knows them; none if no daemon runs.
Machine daemon_machine();

}  // namespace berth
