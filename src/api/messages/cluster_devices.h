// GET /v1/devices/cluster, which `berth gpus --on` prints as well: the devices of a cluster, as
// Slurm tells.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace berth {

struct ClusterDeviceReport {
  std::string node;
  std::uint32_t gpu = 0;   // its number on the node
  std::string type;        // empty: Slurm tells none
  std::string node_state;  // in small letters: "idle", "mixed+drain"
  std::string reason;      // why the node is down or drained; empty: it is not
  // Who holds the device; all empty: nobody.
  std::string slurm_job;
  std::string user;
  std::string name;  // of the job in Slurm
};

struct ClusterDevicesReply {
  std::vector<ClusterDeviceReport> devices;
};
std::string to_json(const ClusterDevicesReply& reply);
Result<ClusterDevicesReply> parse_cluster_devices_reply(std::string_view json);

}  // namespace berth
