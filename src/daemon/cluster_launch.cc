#include "daemon/cluster_launch.h"

#include <array>
#include <string_view>
#include <utility>

namespace berth {
namespace {

/// Which devices a job sees is the cluster's business.
bool is_inherited(std::string_view variable) {
  constexpr std::array<std::string_view, 4> kDevices = {
      "CUDA_VISIBLE_DEVICES=", "ROCR_VISIBLE_DEVICES=", "HIP_VISIBLE_DEVICES=",
      "GPU_DEVICE_ORDINAL="};
  for (const std::string_view device : kDevices) {
    if (variable.starts_with(device)) {
      return false;
    }
  }
  return !variable.starts_with("BERTH_") || variable.starts_with("BERTH_HOME=");
}

}  // namespace

ShimLaunch cluster_launch(const JobSpec& spec, const JobRecord& job, const StoredAttempt& attempt,
                          std::vector<std::string> options, const std::string& mark) {
  const JobDescription& description = job.description;
  ShimLaunch launch;
  launch.job = job.id;
  launch.attempt = attempt.attempt;
  launch.stdout_path = attempt.stdout_path;
  launch.stderr_path = attempt.stderr_path;
  launch.command = description.command;
  launch.directory = description.directory;
  launch.user = description.user;
  launch.target = spec.needs.target;
  launch.target_options = std::move(options);
  launch.limit = spec.limit == kForever ? 0 : spec.limit / Duration(std::chrono::seconds(1));
  launch.whole_devices = spec.needs.gpus > 0 && spec.needs.share == 0 && spec.needs.mps == 0;
  for (const std::string& variable : description.environment) {
    if (is_inherited(variable)) {
      launch.environment.push_back(variable);
    }
  }
  const auto add = [&](std::string_view name, const std::string& value) {
    launch.environment.push_back(std::string(name) + '=' + value);
  };
  add("BERTH_RUN", mark);
  add("BERTH_JOB_ID", std::to_string(job.id.value));
  add("BERTH_ATTEMPT", std::to_string(attempt.attempt));
  add("BERTH_NAME", description.name);
  add("BERTH_PROJECT", description.project);
  add("BERTH_TARGET", spec.needs.target);
  if (description.array_index) {
    add("BERTH_ARRAY_INDEX", std::to_string(*description.array_index));
  }
  return launch;
}

}  // namespace berth
