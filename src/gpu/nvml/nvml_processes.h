// Which processes use an NVIDIA device, whatever form this driver gives the answer in.
#pragma once

#include <vector>

#include "gpu/devices.h"
#include "gpu/nvml/nvml_library.h"

namespace berth {

/// Those of CUDA and those that go through MPS, each pid once, by pid. Empty where the driver does
/// not say. Memory is 0 where only that is unknown. `code` becomes kGpuLost for a lost device.
std::vector<ProcessUse> read_nvml_processes(const NvmlLibrary& nvml, nvml::Device device,
                                            int& code);

}  // namespace berth
