// ClusterLook: what the devices of a cluster do, as Slurm tells. One look serves everybody who asks
// while it is under way or shortly after it, so that many open pages cost Slurm no more than one.
// Owned by the loop's thread.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "api/messages/cluster_devices.h"
#include "base/result.h"
#include "slurm/slurm_target.h"

namespace berth {

/// The devices by the words of `scontrol --oneliner --details show nodes` and `… show job`.
ClusterDevicesReply read_cluster_devices(std::string_view nodes, std::string_view jobs);

class ClusterLook {
 public:
  using Answered = std::function<void(const Result<std::string>& json)>;

  /// Calls `answered` now or later. The cluster must outlive this look.
  void ask(SlurmTarget& cluster, Answered answered);

 private:
  void end(Result<std::string> found);

  std::vector<Answered> waiting_;
  Result<std::string> found_ = std::string();
  std::chrono::steady_clock::time_point kept_until_{};
};

}  // namespace berth
