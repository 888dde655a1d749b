// One look at the devices, as people and as programs read it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/gpus/daemon_devices.h"
#include "cli/toolkit/terminal.h"
#include "gpu/devices.h"

namespace berth {

struct GpusView {
  const std::vector<DeviceInfo>& devices;
  const std::vector<DeviceSample>& samples;  // one per device
  /// What the daemon says of them; only those are shown that it uses. Absent: no daemon was asked.
  std::optional<DaemonDevices> daemon;
};

/// A line per device, and one per process below where `processes` asks for it.
std::string gpus_table(const GpusView& view, bool processes, const Terminal& terminal);

/// {"version":1,"gpus":[…]}: every field always there, null where the driver does not say. One line
/// where `compact`.
std::string gpus_json(const GpusView& view, bool compact);

}  // namespace berth
