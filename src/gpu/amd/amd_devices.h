// AMD devices through sysfs, the files that the kernel's amdgpu driver provides. berth does not use
// ROCm's own management library, because that library ends the process when a folder is missing.
#pragma once

#include <memory>
#include <string>

#include "gpu/driver_devices.h"

namespace berth {

/// `sysfs` is "/sys" outside tests. Without devices, list() is empty.
std::unique_ptr<DriverDevices> open_amd(const std::string& sysfs);

}  // namespace berth
