#include "gpu/pci.h"

#include <fmt/format.h>

#include <cstdlib>

#include "base/small_files.h"

namespace berth {

std::string normal_pci_bus(std::string_view bus) {
  constexpr std::size_t kDomainDigits = 4;
  const std::size_t domain = bus.find(':');
  if (domain != bus.npos && domain > kDomainDigits) {
    bus.remove_prefix(domain - kDomainDigits);
  }
  std::string normal(bus);
  for (char& c : normal) {
    if (c >= 'A' && c <= 'F') {
      c = static_cast<char>(c - 'A' + 'a');
    }
  }
  return normal;
}

std::uint16_t numa_of_pci(const std::string& sysfs, const std::string& bus) {
  const auto text = read_small_file(fmt::format("{}/bus/pci/devices/{}/numa_node", sysfs, bus));
  const int node = text ? std::atoi(text->c_str()) : 0;
  return static_cast<std::uint16_t>(node > 0 ? node : 0);
}

}  // namespace berth
