#include "cli/gpus/daemon_devices.h"

#include "api/messages/devices.h"
#include "cli/toolkit/daemon_client.h"

namespace berth {

std::optional<DaemonDevices> ask_daemon_devices() {
  const Result<DevicesReply> answer =
      as_message(ask_daemon("GET", "/v1/devices"), parse_devices_reply);
  if (!answer) {
    return std::nullopt;
  }
  DaemonDevices known;
  known.sources = answer->sources;
  for (const DeviceReport& device : answer->devices) {
    DaemonDevice& entry = known.devices[device.name];
    entry.health = device.health;
    entry.obstacle = device.obstacle;
    for (const DeviceReport::Holder& job : device.jobs) {
      entry.jobs.push_back(job.id.value);
    }
  }
  return known;
}

}  // namespace berth
