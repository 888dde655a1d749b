// AMD devices through sysfs: what the kernel's amdgpu driver shows in files. ROCm's own management
// library is left alone because it ends the process where a folder is missing.
#pragma once

#include <memory>
#include <string>

#include "gpu/driver_devices.h"

namespace berth {

/// `sysfs` is "/sys" outside tests. No device is an empty list.
std::unique_ptr<DriverDevices> open_amd(const std::string& sysfs);

}  // namespace berth
