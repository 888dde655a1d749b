// One reading of the devices, as a table for users and as JSON for programs.
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
  /// What the daemon reports about the devices. Only devices that the daemon uses are shown. Absent
  /// when no daemon was asked.
  std::optional<DaemonDevices> daemon;
};

struct GpusShown {
  bool processes = false;  // one line per process below the table
  bool wide = false;       // also what rarely matters: UUIDs, NUMA nodes, islands
};

/// One line per device.
std::string gpus_table(const GpusView& view, const GpusShown& shown, const Terminal& terminal);

/// {"version":1,"gpus":[…]}. Every field is always present, null when the driver does not report
/// it. One line with `compact`.
std::string gpus_json(const GpusView& view, bool compact);

}  // namespace berth
