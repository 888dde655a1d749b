#include "gpu/job_environment.h"

#include <fmt/format.h>

#include <algorithm>

namespace berth {

EnvironmentChanges device_environment(const Devices& devices, std::span<const DeviceId> leased) {
  EnvironmentChanges changes;
  std::vector<DeviceInfo> shown;
  std::string names;
  for (const DeviceId device : leased) {
    shown.push_back(devices.list()[device.value]);
    names += (names.empty() ? "" : ",") + shown.back().spec.name;
  }
  for (auto& [name, value] : visibility(shown)) {
    changes.emplace_back(name, std::move(value));
  }
  for (auto& [name, value] : devices.extra_environment()) {
    changes.emplace_back(name, std::move(value));
  }
  changes.emplace_back("BERTH_GPUS", std::move(names));
  return changes;
}

bool keep_device_order(EnvironmentChanges& changes, std::string_view order,
                       std::span<const DeviceInfo> leased) {
  const bool numbered = std::any_of(leased.begin(), leased.end(), [](const DeviceInfo& device) {
    return device.family == DeviceFamily::Nvidia && device.spec.uuid.empty();
  });
  const auto change = std::find_if(changes.begin(), changes.end(), [](const auto& each) {
    return each.first == "CUDA_DEVICE_ORDER";
  });
  if (change == changes.end() || order.empty() || change->second == order) {
    return true;
  }
  if (!numbered) {
    changes.erase(change);
  }
  return !numbered;
}

std::string other_device_order(std::string_view order) {
  return fmt::format(
      "jobs get CUDA_DEVICE_ORDER=PCI_BUS_ID, not {}: the driver tells no UUIDs, and its numbers "
      "count in that order",
      order.substr(0, 100));
}

void add_changes(EnvironmentChanges& changes, EnvironmentChanges later) {
  for (auto& [name, value] : later) {
    // Named anew: clang 14 captures no structured binding.
    std::erase_if(changes, [&gone = name](const auto& change) { return change.first == gone; });
    changes.emplace_back(std::move(name), std::move(value));
  }
}

}  // namespace berth
