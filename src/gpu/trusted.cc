#include "gpu/trusted.h"

#include "gpu/visibility.h"

namespace berth {
namespace {

class TrustedDevices final : public Devices {
 public:
  TrustedDevices(std::span<const std::string_view> ids, const Devices* driver) {
    for (const std::string_view id : ids) {
      DeviceInfo device;
      device.spec.name = id;
      device.visible = id;
      if (driver != nullptr) {
        const std::vector<std::size_t> known = find_devices(id, driver->list());
        device.spec.uuid = known.size() == 1 ? driver->list()[known.front()].spec.uuid : "";
      }
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

}  // namespace berth
