#include "daemon/shim_launch.h"

#include <algorithm>
#include <utility>

#include "gpu/job_environment.h"

namespace berth {
namespace {

/// A description's environment with the changes made to it.
std::vector<std::string> changed(std::vector<std::string> environment,
                                 const EnvironmentChanges& changes) {
  std::erase_if(environment, [&](const std::string& entry) {
    const std::string_view name = std::string_view(entry).substr(0, entry.find('='));
    return std::any_of(changes.begin(), changes.end(),
                       [&](const auto& change) { return change.first == name; });
  });
  for (const auto& [name, value] : changes) {
    if (value) {
      environment.push_back(name + '=' + *value);
    }
  }
  return environment;
}

/// What the user's environment says of this variable; empty: nothing.
std::string_view value_of(std::string_view name, const std::vector<std::string>& environment) {
  for (const std::string_view entry : environment) {
    if (entry.starts_with(name) && entry.substr(name.size()).starts_with('=')) {
      return entry.substr(name.size() + 1);
    }
  }
  return {};
}

}  // namespace

ShimLaunch shim_launch(const StartJob& start, const JobRecord& job, const StoredAttempt& attempt,
                       const Driver& driver, const DaemonDevices& devices,
                       const std::string& mark) {
  const JobDescription& description = job.description;
  EnvironmentChanges changes = driver.attempts().environment(
      start, description.name, description.project,
      attempt.begun.time_since_epoch() / Duration(std::chrono::seconds(1)));
  std::vector<DeviceInfo> leased;
  for (const DeviceId device : start.devices) {
    leased.push_back(driver.devices().info(device));
  }
  keep_device_order(changes, value_of("CUDA_DEVICE_ORDER", description.environment), leased);
  changes.emplace_back("BERTH_RUN", mark);
  changes.emplace_back("BERTH_JOB_ID", std::to_string(start.job.value));
  changes.emplace_back("BERTH_ARRAY_INDEX",
                       description.array_index
                           ? std::optional(std::to_string(*description.array_index))
                           : std::nullopt);
  ShimLaunch launch;
  launch.job = start.job;
  launch.attempt = start.attempt;
  launch.stdout_path = attempt.stdout_path;
  launch.stderr_path = attempt.stderr_path;
  launch.command = description.command;
  launch.directory = description.directory;
  launch.user = description.user;
  launch.locks = devices.lock_paths(start.devices);
  launch.environment = changed(description.environment, changes);
  return launch;
}

}  // namespace berth
