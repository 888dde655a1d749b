// WaitNotices: tells the user of a run why jobs wait for devices that are not only its own.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>

#include "core/scheduler.h"
#include "gpu/locks/device_locks.h"
#include "run/observer.h"

namespace berth {

class WaitNotices {
 public:
  WaitNotices(const std::vector<DeviceInfo>& devices, RunObserver& observer)
      : devices_(devices), observer_(observer) {}

  /// A job was to have this device and could not.
  void blocked(const DeviceLocks::Obstacle& obstacle) { blocked_[obstacle.device] = obstacle; }
  /// Only what keeps a job waiting is worth a word, and that once.
  void tell(const Scheduler& scheduler, Time at);

 private:
  const std::vector<DeviceInfo>& devices_;
  RunObserver& observer_;
  std::map<DeviceId, DeviceLocks::Obstacle> blocked_;  // not told yet
  std::set<std::pair<DeviceId, bool>> told_;           // by another instance, or for an error
  std::string stalled_;                                // what was told last
};

}  // namespace berth
