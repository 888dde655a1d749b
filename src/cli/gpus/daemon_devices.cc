#include "cli/gpus/daemon_devices.h"

#include "cli/toolkit/json.h"
#include "cli/toolkit/selection.h"

namespace berth {

std::optional<DaemonDevices> ask_daemon_devices() {
  const Result<Json> answer = ask_json("GET", "/v1/devices");
  if (!answer || !answer->contains("sources") || !answer->contains("devices")) {
    return std::nullopt;
  }
  DaemonDevices known;
  known.sources = answer->at("sources").get<std::vector<std::string>>();
  for (const Json& device : answer->at("devices")) {
    DaemonDevice& entry = known.devices[field(device, "name")];
    entry.health = field(device, "health");
    entry.obstacle = field(device, "obstacle");
    for (const Json& job : device.value("jobs", Json::array())) {
      entry.jobs.push_back(job.value("id", std::uint64_t{0}));
    }
  }
  return known;
}

}  // namespace berth
