// DeviceGroup: the devices of several backends as one list, which can grow while it is in use.
// Devices are numbered in the order in which they join, and their numbers never change.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "gpu/devices.h"

namespace berth {

/// As with any Devices, add() must not be called while another thread samples.
class DeviceGroup final : public Devices {
 public:
  /// Adds the devices that are not in the group yet and returns their number. Omits a device whose
  /// name the group already has.
  std::size_t add(std::unique_ptr<Devices> devices);

  const std::vector<DeviceInfo>& list() const override { return list_; }
  std::vector<DeviceSample> sample() override;
  Result<void> set_power_limit(std::size_t index, double watts) override;
  std::vector<std::pair<std::string, std::string>> extra_environment() const override;

 private:
  struct Place {
    std::size_t part = 0;
    std::size_t index = 0;  // in the part
  };
  std::vector<std::unique_ptr<Devices>> parts_;
  std::vector<Place> places_;
  std::vector<DeviceInfo> list_;
};

}  // namespace berth
