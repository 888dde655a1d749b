#include "gpu/trusted.h"

#include <algorithm>

#include "gpu/visibility.h"

namespace berth {
namespace {

std::vector<std::string_view> parts_of(std::string_view slot) {
  std::vector<std::string_view> parts;
  for (std::size_t begin = 0; begin <= slot.size();) {
    const std::size_t end = std::min(slot.find(',', begin), slot.size());
    parts.push_back(slot.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

/// As many parts as the slot has; nothing where the driver knows none of them.
std::string uuids_of(std::string_view slot, const Devices* driver) {
  if (driver == nullptr) {
    return "";
  }
  std::string uuids;
  for (const std::string_view id : parts_of(slot)) {
    const std::vector<std::size_t> known = find_devices(id, driver->list());
    uuids += "," + (known.size() == 1 ? driver->list()[known.front()].spec.uuid : "");
  }
  return uuids.find_first_not_of(',') == uuids.npos ? "" : uuids.substr(1);
}

class TrustedDevices final : public Devices {
 public:
  TrustedDevices(std::span<const std::string_view> ids, const Devices* driver) {
    for (const std::string_view id : ids) {
      DeviceInfo device;
      device.spec.name = id;
      device.visible = id == kCpuSlot ? "" : id;
      device.spec.uuid = uuids_of(id, driver);
      list_.push_back(std::move(device));
    }
  }

  const std::vector<DeviceInfo>& list() const override { return list_; }
  std::vector<DeviceSample> sample() override { return std::vector<DeviceSample>(list_.size()); }
  Result<void> set_power_limit(std::size_t, double) override {
    return fail(ErrorCode::Unavailable, "no driver was found that could set a power limit");
  }

 private:
  std::vector<DeviceInfo> list_;
};

}  // namespace

std::unique_ptr<Devices> open_trusted(std::span<const std::string_view> ids,
                                      const Devices* driver) {
  return std::make_unique<TrustedDevices>(ids, driver);
}

std::vector<DeviceInfo> devices_of_slot(const DeviceInfo& slot) {
  if (slot.family != DeviceFamily::Trusted) {
    return {slot};
  }
  if (slot.spec.name == kCpuSlot) {
    return {};
  }
  const std::vector<std::string_view> uuids = parts_of(slot.spec.uuid);
  std::vector<DeviceInfo> devices;
  for (const std::string_view id : parts_of(slot.spec.name)) {
    DeviceInfo device = slot;
    device.spec.name = device.visible = id;
    const std::size_t place = devices.size();
    device.spec.uuid = place < uuids.size() ? uuids[place] : "";
    devices.push_back(std::move(device));
  }
  std::erase_if(devices, [](const DeviceInfo& device) { return device.spec.name.empty(); });
  return devices;
}

}  // namespace berth
