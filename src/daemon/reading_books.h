// ReadingBooks: what readings of the devices leave behind: what each attempt used over time, and
// what the devices did in the last minutes.
#pragma once

#include <string>

#include "daemon/daemon_devices.h"
#include "daemon/device_history.h"
#include "daemon/usage_book.h"
#include "gpu/telemetry/telemetry.h"

namespace berth {

class ReadingBooks {
 public:
  /// Files of attempts are kept in this folder, which need not be there yet.
  explicit ReadingBooks(std::string folder) { usage_.open(std::move(folder)); }

  void note(const Telemetry::Reading& reading, Time at, const Driver& driver,
            const DaemonDevices& devices);

  UsageBook& usage() { return usage_; }
  const UsageBook& usage() const { return usage_; }
  const DeviceHistory& devices() const { return devices_; }

 private:
  UsageBook usage_;
  DeviceHistory devices_;
};

}  // namespace berth
