// JobPauses: jobs that were told to stop or to go on. The signal passes through a job's shim, and
// each process stops when the signal reaches it. Listeners are told when the job has stopped or
// gone on. Nothing announces that moment, so JobPauses looks every few milliseconds while there are
// such jobs.
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
  /// Tells listeners about the jobs that have stopped or gone on.
  void settle(Time at);
  /// When to look again; kNever when no job is being stopped or resumed.
  Time due(Time at) const;

  /// Whether the process is stopped, by `berth pause` or in any other way.
  static bool is_stopped(pid_t pid);

 private:
  struct Pausing {
    bool stopped = false;  // whether it was told to stop
    Time until;            // then listeners are told its actual state
  };

  const Driver& driver_;
  EventHub& events_;
  std::map<JobId, Pausing> pausing_;
};

}  // namespace berth
