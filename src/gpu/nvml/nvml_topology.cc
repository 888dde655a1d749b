#include "gpu/nvml/nvml_topology.h"

#include <algorithm>
#include <map>
#include <optional>

#include "gpu/pci.h"

namespace berth {
namespace {

/// Groups that grow together; each is known by its smallest member.
class Groups {
 public:
  explicit Groups(std::size_t size) : parent_(size) {
    for (std::size_t i = 0; i < size; ++i) {
      parent_[i] = i;
    }
  }
  std::size_t find(std::size_t member) const {
    while (parent_[member] != member) {
      member = parent_[member];
    }
    return member;
  }
  void join(std::size_t a, std::size_t b) {
    const std::size_t one = find(a);
    const std::size_t other = find(b);
    parent_[std::max(one, other)] = std::min(one, other);
  }

 private:
  std::vector<std::size_t> parent_;
};

/// Joins what NVLink joins; false where no link is up at all.
bool join_by_nvlink(const NvmlFunctions& nvml, std::span<const NvmlNode> nodes, Groups& groups) {
  bool any = false;
  std::optional<std::size_t> on_switch;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    for (unsigned link = 0; link < nvml::kMostNvlinks; ++link) {
      unsigned up = 0;
      nvml::PciInfo remote{};
      if (nvml.nvlink_state(nodes[i].device, link, &up) != nvml::kSuccess || up == 0 ||
          nvml.nvlink_remote(nodes[i].device, link, &remote) != nvml::kSuccess) {
        continue;
      }
      any = true;
      remote.bus_id.back() = '\0';
      const std::string bus = normal_pci_bus(remote.bus_id.data());
      const auto other = std::find_if(nodes.begin(), nodes.end(),
                                      [&](const NvmlNode& node) { return node.pci_bus == bus; });
      if (other != nodes.end()) {
        groups.join(i, static_cast<std::size_t>(other - nodes.begin()));
      } else {
        // Not a GPU: a switch, and switches of one machine reach each other.
        groups.join(i, on_switch.value_or(i));
        on_switch = i;
      }
    }
  }
  return any;
}

void join_by_pcie(const NvmlFunctions& nvml, std::span<const NvmlNode> nodes, Groups& groups) {
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    for (std::size_t j = i + 1; j < nodes.size(); ++j) {
      unsigned level = nvml::kTopologySystem;
      if (nvml.common_ancestor(nodes[i].device, nodes[j].device, &level) == nvml::kSuccess &&
          level <= nvml::kTopologyMultipleSwitches) {
        groups.join(i, j);
      }
    }
  }
}

}  // namespace

std::vector<std::uint16_t> find_nvml_islands(const NvmlFunctions& nvml,
                                             std::span<const NvmlNode> nodes) {
  Groups groups(nodes.size());
  if (!join_by_nvlink(nvml, nodes, groups)) {
    join_by_pcie(nvml, nodes, groups);
  }
  std::map<std::size_t, std::uint16_t> numbers;
  std::vector<std::uint16_t> islands;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const auto next = static_cast<std::uint16_t>(numbers.size());
    islands.push_back(numbers.emplace(groups.find(i), next).first->second);
  }
  return islands;
}

}  // namespace berth
