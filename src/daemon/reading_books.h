// ReadingBooks: what is kept from readings of the devices: what each attempt used over time, and
// what the devices did in the last minutes. Both are in files, which are written once a minute and
// when the daemon stops, so that the next daemon continues from there.
#pragma once

#include <string>
#include <vector>

#include "daemon/daemon_devices.h"
#include "daemon/device_history.h"
#include "daemon/usage_book.h"
#include "gpu/telemetry/telemetry.h"

namespace berth {

class ReadingBooks {
 public:
  /// `folder` is the state folder. `devices` are the present devices.
  ReadingBooks(const std::string& folder, const std::vector<DeviceInfo>& devices);

  void note(const Telemetry::Reading& reading, Time at, const Driver& driver,
            const DaemonDevices& devices);
  void save(const std::vector<DeviceInfo>& devices);

  UsageBook& usage() { return usage_; }
  const UsageBook& usage() const { return usage_; }
  const DeviceHistory& devices() const { return devices_; }

 private:
  UsageBook usage_;
  std::string history_file_;
  DeviceHistory devices_;
  Time saved_{};
};

}  // namespace berth
