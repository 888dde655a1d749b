// What the page draws: the devices of the last minutes.
#include <fmt/format.h>

#include "daemon/daemon.h"
#include "daemon/replies.h"

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

HttpResponse Daemon::device_history(const HttpRequest&) {
  std::vector<std::string> devices;
  for (std::uint32_t i = 0; i < driver_->devices().states().size(); ++i) {
    if (driver_->devices().states()[i].removed &&
        scheduler().devices()[DeviceId{i}].leases.empty()) {
      continue;  // as in the list of devices
    }
    const auto values = [&](DeviceHistory::Quantity quantity, int decimals) {
      return as_list(device_history_.values(i, quantity), decimals);
    };
    devices.push_back(fmt::format(
        R"({{"name":{},"utilization_percent":{},"used_bytes":{},"power_w":{},"temperature_c":{}}})",
        quote(devices_.list()[i].spec.name), values(DeviceHistory::kUtilization, 1),
        values(DeviceHistory::kUsed, 0), values(DeviceHistory::kPower, 1),
        values(DeviceHistory::kTemperature, 1)));
  }
  return json(fmt::format(R"({{"version":1,"from":{},"interval_s":{},"devices":[{}]}})",
                          seconds(device_history_.from()), to_seconds(DeviceHistory::kInterval),
                          fmt::join(devices, ",")));
}

}  // namespace berth
