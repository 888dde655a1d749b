// StartRoom: attempts that wait for room on the disk. Without room for its log and its record, an
// attempt would fail through no fault of its own.
#pragma once

#include <functional>
#include <set>

#include "daemon/daemon_clock.h"
#include "daemon/daemon_log.h"
#include "daemon/log_folder.h"
#include "daemon/state_files.h"
#include "exec/shim_runner.h"

namespace berth {

class StartRoom {
 public:
  StartRoom(const StateFiles& files, const LogFolder& logs, const DaemonClock& clock,
            DaemonLog& log)
      : files_(files), logs_(logs), clock_(clock), log_(log) {}

  /// False when there is no room: take_due() returns the attempt later.
  bool is_there_for(const ShimLaunch& launch);
  /// The attempts to try again now.
  std::set<JobId> take_due(Time at);
  Time due() const { return due_; }
  /// The attempt no longer waits for room. Returns whether it did.
  bool drop(JobId job) { return waiting_.erase(job) > 0; }

 private:
  const StateFiles& files_;
  const LogFolder& logs_;
  const DaemonClock& clock_;
  DaemonLog& log_;
  std::set<JobId> waiting_;
  Time due_ = kNever;  // when to look for room
};

}  // namespace berth
