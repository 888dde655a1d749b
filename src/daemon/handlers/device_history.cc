#include <fmt/format.h>

#include "daemon/handlers/devices.h"

namespace berth {
namespace {

std::string as_list(const std::vector<std::optional<double>>& values, int decimals) {
  std::string text;
  for (const std::optional<double>& value : values) {
    text += text.empty() ? "" : ",";
    text += value ? fmt::format("{:.{}f}", *value, decimals) : "null";
  }
  return "[" + text + "]";
}

}  // namespace

void show_device_history(Desk& desk, const DaemonDevices& devices, const DeviceHistory& history,
                         RoutedRequest asked) {
  std::vector<std::string> shown;
  for (std::uint32_t i = 0; i < desk.driver.devices().states().size(); ++i) {
    if (desk.driver.devices().states()[i].removed &&
        desk.scheduler().devices()[DeviceId{i}].leases.empty()) {
      continue;  // as in the list of devices
    }
    const auto values = [&](DeviceHistory::Quantity quantity, int decimals) {
      return as_list(history.values(i, quantity), decimals);
    };
    shown.push_back(fmt::format(
        R"({{"name":{},"utilization_percent":{},"used_bytes":{},"power_w":{},"temperature_c":{}}})",
        quote(devices.list()[i].spec.name), values(DeviceHistory::kUtilization, 1),
        values(DeviceHistory::kUsed, 0), values(DeviceHistory::kPower, 1),
        values(DeviceHistory::kTemperature, 1)));
  }
  desk.answer(std::move(asked.reply),
              json(fmt::format(R"({{"version":1,"from":{},"interval_s":{},"devices":[{}]}})",
                               seconds(history.from()), to_seconds(DeviceHistory::kInterval),
                               fmt::join(shown, ","))));
}

}  // namespace berth
