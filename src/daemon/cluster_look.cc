#include "daemon/cluster_look.h"

#include <fmt/format.h>

#include <cctype>
#include <utility>

#include "slurm/cluster_facts.h"
#include "slurm/cluster_holders.h"
#include "slurm/slurm_words.h"

namespace berth {
namespace {

constexpr auto kKept = std::chrono::seconds(3);

std::vector<std::string> show(const char* what) {
  return {"scontrol", "--oneliner", "--details", "show", what};
}

Failure no_answer(const SlurmTarget& cluster, const SlurmAnswer& answer) {
  return fail(ErrorCode::Unavailable, fmt::format("{} does not answer: {}", cluster.settings().name,
                                                  last_complaint(answer.errors)));
}

}  // namespace

ClusterDevicesReply read_cluster_devices(std::string_view nodes, std::string_view jobs) {
  const auto holders = read_holders(jobs);
  ClusterDevicesReply reply;
  for (const ClusterNode& node : read_nodes(nodes)) {
    std::string state = node.state;
    for (char& each : state) {
      each = static_cast<char>(std::tolower(static_cast<unsigned char>(each)));
    }
    std::uint32_t gpu = 0;
    for (const auto& [type, count] : node.gpus) {
      for (std::uint32_t i = 0; i < count; ++i, ++gpu) {
        ClusterDeviceReport device{node.name, gpu, type, state, node.reason, {}, {}, {}};
        if (const auto held = holders.find({node.name, gpu}); held != holders.end()) {
          device.slurm_job = held->second.job;
          device.user = held->second.user;
          device.name = held->second.name;
        }
        reply.devices.push_back(std::move(device));
      }
    }
  }
  return reply;
}

void ClusterLook::ask(SlurmTarget& cluster, Answered answered) {
  if (waiting_.empty() && std::chrono::steady_clock::now() < kept_until_) {
    return answered(found_);
  }
  waiting_.push_back(std::move(answered));
  if (waiting_.size() > 1) {
    return;  // it is under way
  }
  cluster.ask(show("nodes"), [this, &cluster](const SlurmAnswer& nodes) {
    if (!nodes.ok()) {
      return end(no_answer(cluster, nodes));
    }
    cluster.ask(show("job"), [this, &cluster, nodes = nodes.output](const SlurmAnswer& jobs) {
      end(jobs.ok() ? Result<std::string>(to_json(read_cluster_devices(nodes, jobs.output)))
                    : no_answer(cluster, jobs));
    });
  });
}

void ClusterLook::end(Result<std::string> found) {
  found_ = std::move(found);
  kept_until_ = std::chrono::steady_clock::now() + kKept;
  for (const Answered& answered : std::exchange(waiting_, {})) {
    answered(found_);
  }
}

}  // namespace berth
