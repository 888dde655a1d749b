// Where a PCI device sits in the machine.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace berth {

/// Converts "00000000:3B:00.0", as NVML writes it, to "0000:3b:00.0", as sysfs does.
std::string normal_pci_bus(std::string_view bus);

/// The nearest memory node; 0 when the machine has only one or does not report it.
std::uint16_t numa_of_pci(const std::string& sysfs, const std::string& bus);

}  // namespace berth
