#include "daemon/handlers/devices.h"

namespace berth {

void show_device_history(Desk& desk, const DaemonDevices& devices, const DeviceHistory& history,
                         RoutedRequest asked) {
  DeviceHistoryReply reply;
  reply.from = seconds(history.from());
  reply.interval = to_seconds(DeviceHistory::kInterval);
  for (std::uint32_t i = 0; i < desk.driver.devices().states().size(); ++i) {
    if (desk.driver.devices().states()[i].removed &&
        desk.scheduler().devices()[DeviceId{i}].leases.empty()) {
      continue;  // as in the list of devices
    }
    DeviceHistoryReply::Device& device = reply.devices.emplace_back();
    device.name = devices.list()[i].spec.name;
    device.utilization = history.values(i, DeviceHistory::kUtilization);
    device.used = history.values(i, DeviceHistory::kUsed);
    device.power = history.values(i, DeviceHistory::kPower);
    device.temperature = history.values(i, DeviceHistory::kTemperature);
  }
  desk.answer(std::move(asked.reply), json(to_json(reply)));
}

}  // namespace berth
