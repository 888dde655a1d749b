// Which processes use an NVIDIA device, in whichever form the driver reports them.
#pragma once

#include <vector>

#include "gpu/devices.h"
#include "gpu/nvml/nvml_library.h"

namespace berth {

/// CUDA processes and MPS clients, each pid once, sorted by pid. Empty when the driver does not
/// report them. Memory is 0 when only the memory is unknown. `code` becomes kGpuLost for a lost
/// device.
std::vector<ProcessUse> read_nvml_processes(const NvmlLibrary& nvml, nvml::Device device,
                                            int& code);

}  // namespace berth
