// JobPauses: jobs that were told to stop or to go on. The signal passes through a job's shim, and
// the shim tells when the job has stopped or goes on; then listeners are told. The shim of a job
// that an earlier daemon started has no wire to this one: listeners are told a moment later.
#pragma once

#include <sys/types.h>

#include <map>

#include "daemon/events.h"
#include "drive/driver.h"

namespace berth {

class JobPauses {
 public:
  JobPauses(const Driver& driver, EventHub& events) : driver_(driver), events_(events) {}

  /// `heard`: settled() will be called.
  void told(JobId job, bool stopped, bool heard, Time at);
  /// The job has stopped or goes on.
  void settled(JobId job);
  /// Tells listeners about the jobs of which nothing will be heard any more.
  void expire(Time at);
  /// When expire() is to be called; kNever when no job is being stopped or resumed.
  Time due() const;

  /// Whether the process is stopped, by `berth pause` or in any other way.
  static bool is_stopped(pid_t pid);

 private:
  const Driver& driver_;
  EventHub& events_;
  std::map<JobId, Time> pausing_;  // and when listeners are told at the latest
};

}  // namespace berth
