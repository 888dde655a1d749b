#include "cli/sim/daemon_history.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>

#include "api/messages/devices.h"
#include "api/messages/job.h"
#include "api/messages/status.h"
#include "cli/toolkit/clock.h"
#include "cli/toolkit/daemon_client.h"
#include "cli/toolkit/selection.h"

namespace berth {
namespace {

/// A job of the daemon's, in seconds on its line of time.
struct PastJob {
  double submitted = 0;
  double begin = 0;    // it could not start before; 0: at once
  double started = 0;  // of its last attempt; 0: not yet
  double ended = 0;
  double expected = 0;  // its length, as the daemon was told or has learned; 0: unknown
  double energy = 0;    // joules
  SimJob needs;
  std::string id;
  std::string project;
  std::string owner;
  std::vector<std::string> devices;
};

Duration seconds(double count) {
  return std::chrono::duration_cast<Duration>(std::chrono::duration<double>(std::max(count, 0.0)));
}

std::vector<PastJob> past_jobs(const std::vector<JobReport>& list, bool by_user) {
  constexpr std::int64_t kMib = 1024 * 1024;
  std::vector<PastJob> jobs;
  for (const JobReport& job : list) {
    const JobSpec& spec = job.description.spec;
    // A held job starts whenever somebody likes.
    if (spec.needs.gpus == 0 || job.state == "held") {
      continue;
    }
    PastJob& past = jobs.emplace_back();
    past.begin = to_seconds(spec.begin.time_since_epoch());
    // Until the time that its user has set it does not wait for a device.
    past.submitted = std::max(job.submitted, past.begin);
    past.started = job.started;
    past.ended = job.ended;
    past.expected = spec.expected == kForever ? 0 : to_seconds(spec.expected);
    past.energy = job.energy.value_or(0);
    past.needs.gpus = spec.needs.gpus;
    past.needs.share = spec.needs.share;
    past.needs.memory_mib = static_cast<std::uint32_t>(spec.needs.memory.count / kMib);
    past.needs.priority = spec.priority;
    past.needs.weight = spec.weight;
    past.id = std::to_string(job.id.value);
    past.project = job.description.project;
    past.owner = by_user ? std::to_string(job.description.user) : past.project;
    past.devices = job.gpus;
  }
  return jobs;
}

/// How long a job may take of which nobody has said it: as those of its project did, or as all did.
class Lengths {
 public:
  explicit Lengths(const std::vector<PastJob>& jobs) {
    for (const PastJob& job : jobs) {
      if (job.started > 0 && job.ended > 0) {
        for (Mean* mean : {&of_all_, &of_project_[job.project]}) {
          mean->sum += job.ended - job.started;
          ++mean->count;
        }
      }
    }
  }

  double of(const PastJob& job) const {
    constexpr double kUnknownLength = 3600;
    const auto found = of_project_.find(job.project);
    const Mean& mean = found == of_project_.end() ? of_all_ : found->second;
    return job.expected > 0 ? job.expected
           : mean.count > 0 ? mean.sum / mean.count
                            : kUnknownLength;
  }

 private:
  struct Mean {
    double sum = 0;
    double count = 0;
  };
  Mean of_all_;
  std::map<std::string, Mean> of_project_;
};

/// Jobs that run go on from where they are, and those that wait may start from now on. All of them
/// take as long as is expected of them.
std::vector<PastJob> present_queue(std::vector<PastJob> jobs, const Lengths& lengths, double now) {
  for (PastJob& job : jobs) {
    job.begin = job.started > 0 ? job.started : std::max(job.begin, now);
    job.started = job.begin;
    job.ended = std::max(job.begin + lengths.of(job), now + 1);
  }
  return jobs;
}

/// What the daemon saw. Between its jobs a device is taken to draw what it does without one.
void add_energy(SimRun& run, const std::vector<PastJob>& jobs, const Machine& machine) {
  double idle = 0;
  for (const PastJob& job : jobs) {
    run.energy_j += job.energy;
  }
  for (const SimDevice& device : machine) {
    idle += device.spec.power.idle / static_cast<double>(machine.size());
  }
  const double all =
      to_seconds(run.last_end - run.first_submit) * static_cast<double>(machine.size());
  if (run.energy_j > 0) {
    run.energy_j += idle * std::max(all - run.device_seconds, 0.0);
  }
}

DaemonJobs as_workload(const std::vector<PastJob>& jobs, const Machine& machine) {
  DaemonJobs made;
  made.origin = jobs.front().submitted;
  SimRun& run = made.recorded;
  Workload& workload = made.workload;
  std::map<std::string, std::uint32_t> owners{{"", 0}};
  std::map<std::string, DeviceId> devices;
  for (std::uint32_t i = 0; i < machine.size(); ++i) {
    devices[machine[i].spec.name] = DeviceId{i};
  }
  run.first_submit = Time{};
  for (const PastJob& past : jobs) {
    SimJob& job = workload.jobs.emplace_back(past.needs);
    job.submit = Time(seconds(past.submitted - made.origin));
    job.begin = Time(seconds(past.begin - made.origin));
    job.duration = seconds(past.ended - past.started);
    job.expected = past.expected > 0 ? seconds(past.expected) : kForever;
    job.stated = past.expected > 0;
    job.gpus = std::min(job.gpus, static_cast<std::uint32_t>(machine.size()));
    const auto [owner, added] =
        owners.try_emplace(past.owner, static_cast<std::uint32_t>(workload.owners.size()));
    if (added) {
      workload.owners.push_back(past.owner);
    }
    job.owner = owner->second;
    workload.names.push_back(past.id);
    JobOutcome outcome{Time(seconds(past.started - made.origin)),
                       Time(seconds(past.ended - made.origin)), job.duration};
    for (const std::string& name : past.devices) {
      if (const auto device = devices.find(name); device != devices.end()) {
        run.timeline.push_back({static_cast<std::uint32_t>(run.outcomes.size()), device->second,
                                outcome.started, outcome.ended});
      }
    }
    run.last_end = std::max(run.last_end, outcome.ended);
    run.gpu_seconds += to_seconds(job.duration) * job.gpus;
    run.device_seconds = run.gpu_seconds;
    run.outcomes.push_back(outcome);
    made.jobs_j += past.energy;
  }
  add_energy(run, jobs, machine);
  return made;
}

}  // namespace

Result<DaemonJobs> read_daemon_jobs(bool queue, const Machine& machine, Duration last) {
  const Result<StatusReply> status =
      as_message(ask_daemon("GET", "/v1/status"), parse_status_reply);
  if (!status) {
    return Failure(status.error());
  }
  const Result<std::vector<JobReport>> list = list_jobs(Selection{}, !queue);
  if (!list) {
    return Failure(list.error());
  }
  const bool by_user = status->owners == "user";
  std::vector<PastJob> jobs = past_jobs(*list, by_user);
  if (queue) {
    const Result<JobsReply> latest =
        as_message(ask_daemon("GET", "/v1/jobs?all=1&descending=1&limit=1000"), parse_jobs_reply);
    if (!latest) {
      return Failure(latest.error());
    }
    jobs = present_queue(std::move(jobs), Lengths(past_jobs(latest->jobs, by_user)),
                         wall_clock_seconds());
  } else {
    const double from = last == kForever ? 0 : wall_clock_seconds() - to_seconds(last);
    std::erase_if(jobs, [from](const PastJob& job) {
      return job.started <= 0 || job.ended <= 0 || job.submitted < from;
    });
  }
  if (jobs.empty()) {
    return fail(ErrorCode::Refused, queue              ? "no job runs or waits"
                                    : last == kForever ? "no job has run yet"
                                                       : "no job has run in that time");
  }
  std::stable_sort(jobs.begin(), jobs.end(),
                   [](const PastJob& a, const PastJob& b) { return a.submitted < b.submitted; });
  DaemonJobs made = as_workload(jobs, machine);
  const Result<Placement> placement = parse_placement(status->placement);
  made.policy = status->policy;
  made.placement = placement ? *placement : kUsualPlacement;
  return made;
}

Machine daemon_machine() {
  Machine machine;
  const Result<DevicesReply> answer =
      as_message(ask_daemon("GET", "/v1/devices"), parse_devices_reply);
  if (!answer) {
    return machine;
  }
  for (const DeviceReport& device : answer->devices) {
    if (device.health == "removed") {
      continue;
    }
    DeviceSpec& spec = machine.emplace_back().spec;
    spec.name = device.name;
    spec.model = device.model;
    spec.memory = device.memory;
    if (device.expected_idle) {
      spec.power = {*device.expected_idle, device.expected_busy.value_or(0)};
    }
  }
  return machine;
}

}  // namespace berth
