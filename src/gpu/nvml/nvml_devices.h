// NVIDIA devices through NVML. A field that the driver does not support or does not permit is
// absent; a GPU that fell off the bus is lost; a device split by MIG appears as its slices.
#pragma once

#include <memory>
#include <string>

#include "gpu/driver_devices.h"

namespace berth {

/// An empty `library` means the usual names. `sysfs` is "/sys" outside tests. The error is
/// Unavailable when there is no library or no driver. A driver without devices gives an empty list.
Result<std::unique_ptr<DriverDevices>> open_nvml(const std::string& library,
                                                 const std::string& sysfs);

}  // namespace berth
