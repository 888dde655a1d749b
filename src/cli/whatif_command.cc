// berth whatif: the daemon's own jobs under other policies.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <nlohmann/json.hpp>

#include "cli/args.h"
#include "cli/commands.h"
#include "cli/daemon_devices.h"
#include "cli/selection.h"
#include "cli/sim_options.h"

namespace berth {
namespace {

constexpr std::string_view kName = "berth whatif";

using Json = nlohmann::json;

/// A job of the daemon's, in seconds on its line of time.
struct PastJob {
  double submitted = 0;
  double started = 0;  // of its last attempt; 0: not yet
  double ended = 0;
  std::uint32_t gpus = 1;
  std::string name;
  std::string project;
  std::vector<std::string> devices;
};

std::vector<PastJob> read_jobs(const Json& list) {
  std::vector<PastJob> jobs;
  for (const Json& job : list) {
    PastJob past{number(job, "submitted"),
                 number(job, "started"),
                 number(job, "ended"),
                 static_cast<std::uint32_t>(number(job, "gpus_needed")),
                 field(job, "id"),
                 field(job, "project"),
                 {}};
    for (const Json& device : job["gpus"]) {
      past.devices.push_back(device.get<std::string>());
    }
    if (past.gpus > 0) {
      jobs.push_back(std::move(past));
    }
  }
  return jobs;
}

Duration seconds(double count) {
  return std::chrono::duration_cast<Duration>(std::chrono::duration<double>(std::max(count, 0.0)));
}

/// What could be known of lengths: the mean of those of the same project that had ended before.
class Lengths {
 public:
  explicit Lengths(std::vector<PastJob> jobs) : ended_(std::move(jobs)) {
    std::erase_if(ended_, [](const PastJob& job) { return job.started <= 0 || job.ended <= 0; });
    std::sort(ended_.begin(), ended_.end(),
              [](const PastJob& a, const PastJob& b) { return a.ended < b.ended; });
  }

  /// Times asked for must not go back.
  Duration expected(const std::string& project, double at) {
    for (; next_ < ended_.size() && ended_[next_].ended <= at; ++next_) {
      Mean& mean = means_[ended_[next_].project];
      mean.sum += ended_[next_].ended - ended_[next_].started;
      ++mean.count;
    }
    const auto found = means_.find(project);
    return found == means_.end() ? kForever : seconds(found->second.sum / found->second.count);
  }

 private:
  struct Mean {
    double sum = 0;
    double count = 0;
  };
  std::vector<PastJob> ended_;
  std::size_t next_ = 0;
  std::map<std::string, Mean> means_;
};

Machine machine_of(const std::map<std::string, DaemonDevice>& devices) {
  Machine machine;
  for (const auto& [name, device] : devices) {
    if (device.health != "removed") {
      machine.emplace_back().spec.name = name;
    }
  }
  return machine;
}

/// The jobs as a workload, and what really became of them, if they have ended.
void add_jobs(PreparedStudy& study, const std::vector<PastJob>& jobs, Lengths lengths,
              double origin) {
  Trial trial;
  SimRun run;
  std::map<std::string, std::uint32_t> owners{{"", 0}};
  std::map<std::string, DeviceId> devices;
  for (std::uint32_t i = 0; i < study.machine.size(); ++i) {
    devices[study.machine[i].spec.name] = DeviceId{i};
  }
  run.first_submit = Time(seconds(jobs.front().submitted - origin));
  for (const PastJob& past : jobs) {
    SimJob& job = trial.workload.jobs.emplace_back();
    job.submit = Time(seconds(past.submitted - origin));
    job.duration = seconds(past.ended - past.started);
    job.expected = lengths.expected(past.project, past.submitted);
    job.gpus = std::min(past.gpus, static_cast<std::uint32_t>(study.machine.size()));
    const auto [owner, added] =
        owners.try_emplace(past.project, static_cast<std::uint32_t>(trial.workload.owners.size()));
    if (added) {
      trial.workload.owners.push_back(past.project);
    }
    job.owner = owner->second;
    trial.workload.names.push_back(past.name);
    JobOutcome outcome{Time(seconds(past.started - origin)), Time(seconds(past.ended - origin)),
                       job.duration};
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
  }
  study.trials.push_back(std::move(trial));
  study.recorded = std::move(run);
}

/// Jobs that run go on from where they are; those that wait come now, and take as long as such jobs
/// took.
std::vector<PastJob> present_queue(std::vector<PastJob> jobs, double now) {
  constexpr double kUnknown = 3600;
  Lengths lengths(jobs);
  std::erase_if(jobs, [](const PastJob& job) { return job.ended > 0; });
  for (PastJob& job : jobs) {
    const Duration known = lengths.expected(job.project, now);
    const double length = known == kForever ? kUnknown : to_seconds(known);
    job.submitted = job.started > 0 ? job.started : now;
    job.ended = std::max(job.submitted + length, now + 1);
    job.started = job.submitted;
  }
  return jobs;
}

Result<PreparedStudy> prepare(SimCommandOptions& options, bool queue) {
  bool more = false;
  const Result<Json> list = list_jobs(Selection{}, true, 0, more);
  if (!list) {
    return Failure(list.error());
  }
  PreparedStudy study;
  if (Result<void> ready = prepare_contenders(options, study); !ready) {
    return Failure(ready.error());
  }
  if (options.gpus.empty()) {
    const std::optional<DaemonDevices> known = ask_daemon_devices();
    study.machine = known ? machine_of(known->devices) : Machine{};
    options.gpus = "this machine";
  }
  if (study.machine.empty()) {
    return fail(ErrorCode::Usage, "the daemon has no devices: say what to simulate, like --gpus 4");
  }
  std::vector<PastJob> jobs = read_jobs(*list);
  const double now =
      std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
  const Lengths lengths(jobs);
  if (queue) {
    jobs = present_queue(std::move(jobs), now);
  } else {
    std::erase_if(jobs, [](const PastJob& job) { return job.started <= 0 || job.ended <= 0; });
  }
  if (jobs.empty()) {
    return fail(ErrorCode::Refused, queue ? "no job runs or waits" : "no job has run yet");
  }
  std::stable_sort(jobs.begin(), jobs.end(),
                   [](const PastJob& a, const PastJob& b) { return a.submitted < b.submitted; });
  const double origin = jobs.front().submitted;
  add_jobs(study, jobs, lengths, origin);
  if (queue) {
    study.recorded.reset();  // it has not happened yet
  }
  return study;
}

}  // namespace

int whatif_main(Words words) {
  SimCommandOptions options;
  bool queue = false;
  Args args("berth whatif --policy NAME,… [options]",
            "Runs the jobs that this user's daemon has run, or with --queue those that run and\n"
            "wait now, in the simulator under other policies. The row `recorded` is what really\n"
            "happened. Policies are told the mean length of what had ended before in the same\n"
            "project; oracle:NAME is told the true lengths.");
  args.flag("--queue", queue, "the present queue, not the past");
  args.value("--gpus", "SPEC", "other devices than the daemon's: 8, 2x8, …", options.gpus);
  options.declare_study(args);
  args.example("berth whatif --policy fifo,sjf,easy,srtf");
  args.example("berth whatif --queue --policy sjf --gpus 8 --jobs starts.csv");
  const Result<bool> parsed = args.parse(words);
  if (!parsed) {
    return report(kName, parsed.error());
  }
  if (!*parsed) {
    return 0;
  }
  Result<PreparedStudy> study = prepare(options, queue);
  if (!study) {
    return report(kName, study.error());
  }
  const Result<int> status = run_prepared(options, *study);
  return status ? *status : report(kName, status.error());
}

}  // namespace berth
