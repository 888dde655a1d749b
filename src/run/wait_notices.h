// WaitNotices: tells the user of a run why jobs wait for devices that the run shares with others.
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

  /// A job was to get this device, but the device could not be taken.
  void blocked(const DeviceLocks::Obstacle& obstacle) { blocked_[obstacle.device] = obstacle; }
  /// Reports only what keeps a job waiting, and each reason once.
  void tell(const Scheduler& scheduler, Time at);

 private:
  const std::vector<DeviceInfo>& devices_;
  RunObserver& observer_;
  std::map<DeviceId, DeviceLocks::Obstacle> blocked_;  // not reported yet
  std::set<std::pair<DeviceId, bool>> told_;           // true: another instance; false: error
  std::string stalled_;                                // the last reported reason
};

}  // namespace berth
