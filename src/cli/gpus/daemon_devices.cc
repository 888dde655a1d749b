#include "cli/gpus/daemon_devices.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "api/messages/devices.h"
#include "api/messages/job.h"
#include "cli/jobs/job_words.h"
#include "cli/toolkit/daemon_client.h"

namespace berth {
namespace {

/// The running jobs, each in a few words.
std::map<std::uint64_t, std::string> describe_running() {
  std::map<std::uint64_t, std::string> words;
  const Result<JobsReply> running =
      as_message(ask_running_daemon("GET", "/v1/jobs?select=state=starting,running&limit=1000"),
                 parse_jobs_reply);
  for (const JobReport& job : running ? running->jobs : std::vector<JobReport>{}) {
    std::string text = std::to_string(job.id.value);
    if (!job.description.name.empty()) {
      text += " " + full_name_of(job);
    }
    if (job.description.user != ::getuid()) {
      text += fmt::format(" ({})", user_of(job));
    }
    words[job.id.value] = std::move(text);
  }
  return words;
}

}  // namespace

std::optional<DaemonDevices> ask_daemon_devices() {
  const Result<DevicesReply> answer =
      as_message(ask_running_daemon("GET", "/v1/devices"), parse_devices_reply);
  if (!answer) {
    return std::nullopt;
  }
  DaemonDevices known;
  known.sources = answer->sources;
  const bool busy = std::any_of(answer->devices.begin(), answer->devices.end(),
                                [](const DeviceReport& device) { return !device.jobs.empty(); });
  const auto words = busy ? describe_running() : std::map<std::uint64_t, std::string>{};
  for (const DeviceReport& device : answer->devices) {
    DaemonDevice& entry = known.devices[device.name];
    entry.health = device.health;
    entry.obstacle = device.obstacle;
    if (device.reserved_for) {
      entry.jobs.push_back(fmt::format("reserved for {}", device.reserved_for->value));
    }
    for (const DeviceReport::Holder& job : device.jobs) {
      entry.job_ids.push_back(job.id.value);
      const auto found = words.find(job.id.value);
      entry.jobs.push_back(found == words.end() ? std::to_string(job.id.value) : found->second);
    }
  }
  return known;
}

}  // namespace berth
