#include "gpu/device_group.h"

#include <algorithm>

namespace berth {

std::size_t DeviceGroup::add(std::unique_ptr<Devices> devices) {
  const std::size_t before = list_.size();
  for (std::size_t i = 0; i < devices->list().size(); ++i) {
    const DeviceInfo& info = devices->list()[i];
    // Within one part a name may come twice: then it is two slots of one device.
    const auto known =
        std::find_if(list_.begin(), list_.begin() + static_cast<std::ptrdiff_t>(before),
                     [&](const DeviceInfo& other) { return other.spec.name == info.spec.name; });
    if (known == list_.begin() + static_cast<std::ptrdiff_t>(before)) {
      list_.push_back(info);
      places_.push_back({parts_.size(), i});
    }
  }
  parts_.push_back(std::move(devices));
  return list_.size() - before;
}

std::vector<DeviceSample> DeviceGroup::sample() {
  std::vector<std::vector<DeviceSample>> samples;
  samples.reserve(parts_.size());
  for (const std::unique_ptr<Devices>& part : parts_) {
    samples.push_back(part->sample());
  }
  std::vector<DeviceSample> all;
  all.reserve(places_.size());
  for (const Place& place : places_) {
    all.push_back(std::move(samples[place.part][place.index]));
  }
  return all;
}

Result<void> DeviceGroup::set_power_limit(std::size_t index, double watts) {
  return parts_[places_[index].part]->set_power_limit(places_[index].index, watts);
}

std::vector<std::pair<std::string, std::string>> DeviceGroup::extra_environment() const {
  std::vector<std::pair<std::string, std::string>> all;
  for (const std::unique_ptr<Devices>& part : parts_) {
    const auto more = part->extra_environment();
    all.insert(all.end(), more.begin(), more.end());
  }
  return all;
}

}  // namespace berth
