// DaemonDevices: the devices of the daemon: those it was started with, those that were added while
// it ran, their locks, and what users want done with them. What users want outlives the daemon, as
// settings of the store.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "daemon/daemon_log.h"
#include "drive/driver.h"
#include "gpu/device_group.h"
#include "gpu/locks/device_locks.h"
#include "store/store.h"

namespace berth {

class DaemonDevices {
 public:
  /// Opens the devices that `gpus` names, as --gpus does. To be called once, before there is a
  /// driver.
  Result<void> open(const std::string& gpus);
  /// Opens more of them.
  Result<void> add(const std::string& gpus, Unseen unseen, Driver& driver);

  /// Adds, drains and removes as the daemon before was told.
  Result<void> restore(Store& store, Driver& driver, DaemonLog& log, Time at);
  /// What the next daemon is to know.
  Result<void> save(Store& store, const Driver& driver) const;

  /// From here on the driver leases devices from the other berth instances of the machine.
  Result<void> open_locks(const std::string& state_folder, Driver& driver);
  /// Why the device cannot be leased now; none: it can, or nobody has tried.
  const DeviceLocks::Obstacle* obstacle(DeviceId device) const { return locks_->obstacle(device); }
  std::vector<std::string> lock_paths(const std::vector<DeviceId>& devices) const {
    return devices.empty() ? std::vector<std::string>{} : locks_->paths(devices);
  }

  DeviceGroup& group() { return group_; }
  const std::vector<DeviceInfo>& list() const { return group_.list(); }
  const std::string& name(DeviceId device) const { return group_.list()[device.value].spec.name; }
  std::vector<std::string> names(const std::vector<DeviceId>& devices) const;
  /// The slots of these names that are least in use; a name may stand for several slots.
  static std::vector<DeviceId> slots(const DeviceTable& table,
                                     const std::vector<std::string>& names);
  /// The --gpus texts by which the devices came.
  std::vector<std::string> sources() const;

 private:
  DeviceGroup group_;
  std::unique_ptr<DeviceLocks> locks_;
  std::string first_;               // the --gpus text of the start
  std::vector<std::string> added_;  // those since
};

}  // namespace berth
