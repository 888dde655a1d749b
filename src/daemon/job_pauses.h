// JobPauses: jobs that were told to stop or to go on. The signal passes through a job's shim, and
// each process stops when it gets to it; listeners hear of it when the job has. Nothing announces
// that, so it is looked at every few milliseconds while there are such jobs.
#pragma once

#include <sys/types.h>

#include <map>

#include "daemon/events.h"
#include "drive/driver.h"

namespace berth {

class JobPauses {
 public:
  JobPauses(const Driver& driver, EventHub& events) : driver_(driver), events_(events) {}

  void told(JobId job, bool stopped, Time at);
  /// Tells listeners of the jobs that have stopped or gone on.
  void settle(Time at);
  /// When to look again; kNever: no job is being stopped.
  Time due(Time at) const;

  /// Whether the process is stopped, by `berth pause` or by anybody else.
  static bool is_stopped(pid_t pid);

 private:
  struct Pausing {
    bool stopped = false;  // what it was told
    Time until;            // then it is told as it is
  };

  const Driver& driver_;
  EventHub& events_;
  std::map<JobId, Pausing> pausing_;
};

}  // namespace berth
