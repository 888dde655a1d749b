// DaemonDevices: the devices that the daemon was started with, the devices added while it ran,
// their locks, and what users want done with them. The users' wishes outlive the daemon, as
// settings in the store.
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
  /// Opens the devices that `gpus` names, as --gpus does, or (empty) those that the previous daemon
  /// was told. A machine on which no driver shows a device runs jobs that need none. Call it once,
  /// before there is a driver.
  Result<void> open(Store& store, const std::string& gpus);
  /// Opens more devices.
  Result<void> add(const std::string& gpus, Unseen unseen, Driver& driver);

  /// Adds, drains and removes devices as the previous daemon was told.
  Result<void> restore(Store& store, Driver& driver, DaemonLog& log, Time at);
  /// Saves what the next daemon must know.
  Result<void> save(Store& store, const Driver& driver) const;

  /// From here on, the driver locks each device that it leases, against the other berth instances
  /// on the machine.
  Result<void> open_locks(const std::string& state_folder, Driver& driver);
  /// Why the device cannot be leased now. Null when it can, or when no lease was tried.
  const DeviceLocks::Obstacle* obstacle(DeviceId device) const { return locks_->obstacle(device); }
  std::vector<std::string> lock_paths(const std::vector<DeviceId>& devices) const {
    return devices.empty() ? std::vector<std::string>{} : locks_->paths(devices);
  }

  DeviceGroup& group() { return group_; }
  const std::vector<DeviceInfo>& list() const { return group_.list(); }
  const std::string& name(DeviceId device) const { return group_.list()[device.value].spec.name; }
  std::vector<std::string> names(const std::vector<DeviceId>& devices) const;
  /// The least-used slots with these names. Several slots may share a name.
  static std::vector<DeviceId> slots(const DeviceTable& table,
                                     const std::vector<std::string>& names);
  /// The --gpus texts from which the devices came.
  std::vector<std::string> sources() const;

 private:
  DeviceGroup group_;
  std::unique_ptr<DeviceLocks> locks_;
  std::string first_;               // the --gpus text at the start
  std::vector<std::string> added_;  // the --gpus texts since then
};

}  // namespace berth
