// Which NVIDIA devices are joined by fast links.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "gpu/nvml/nvml_functions.h"

namespace berth {

struct NvmlNode {
  nvml::Device device = nullptr;
  std::string pci_bus;  // normal form
};

/// The island of each node. Devices that NVLink joins, directly or through switches, share an
/// island. If no device has NVLink, devices below common PCIe switches share one. Islands are
/// numbered from 0 in order.
std::vector<std::uint16_t> find_nvml_islands(const NvmlFunctions& nvml,
                                             std::span<const NvmlNode> nodes);

}  // namespace berth
