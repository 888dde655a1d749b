#include "run/run_account.h"

#include <algorithm>
#include <utility>

namespace berth {

void RunAccount::started(const StartJob& start, Duration waited) {
  if (start.attempt > 1) {
    ++summary_.retries;
    return;
  }
  ++summary_.started;
  summary_.total_wait += waited;
  summary_.longest_wait = std::max(summary_.longest_wait, waited);
}

void RunAccount::ended(JobId job, Outcome outcome, Duration runtime) {
  constexpr std::size_t kMostNamed = 10;
  if (outcome != Outcome::Succeeded && outcome != Outcome::Cancelled &&
      summary_.failed.size() < kMostNamed) {
    summary_.failed.push_back(job);
  }
  summary_.total_runtime += runtime;
  summary_.longest_runtime = std::max(summary_.longest_runtime, runtime);
  RunCounts& counts = summary_.counts;
  switch (outcome) {
    case Outcome::Succeeded:
      ++counts.succeeded;
      break;
    case Outcome::TimedOut:
      ++counts.timed_out;
      break;
    case Outcome::Cancelled:
      ++counts.cancelled;
      break;
    case Outcome::Oom:
      ++counts.out_of_memory;
      ++counts.failed;
      break;
    case Outcome::Failed:
    case Outcome::Lost:
      ++counts.failed;
  }
}

void RunAccount::released(const DrivenAttempt& attempt, Time at) {
  for (const DeviceId device : attempt.devices) {
    meter_.add_job(device, at - attempt.begun);
  }
}

void RunAccount::sampled(const std::vector<DeviceSample>& samples) {
  for (std::size_t i = 0; i < samples.size(); ++i) {
    meter_.add_sample(i, samples[i]);
  }
}

/// From how long jobs took so far. Those that run are taken to be half done.
Duration RunAccount::estimate_remaining(const Driver& driver, bool more_input) const {
  const std::uint64_t ended = summary_.counts.ended();
  const std::size_t running = driver.attempts().all().size();
  if (ended == 0 || more_input || running == 0) {
    return kForever;
  }
  const double mean = to_seconds(summary_.total_runtime) / static_cast<double>(ended);
  const double rounds =
      static_cast<double>(driver.view().waiting()) / static_cast<double>(running) + 0.5;
  return std::chrono::duration_cast<Duration>(std::chrono::duration<double>(mean * rounds));
}

RunProgress RunAccount::progress(const Driver& driver, const RunJobs& jobs, bool more_input,
                                 Time at) const {
  const Scheduler& scheduler = driver.view();
  RunProgress progress;
  progress.counts = summary_.counts;
  progress.counts.running = scheduler.running().size();
  progress.counts.waiting = scheduler.waiting();
  progress.input_open = more_input;
  progress.elapsed = at - begun_;
  progress.remaining = estimate_remaining(driver, more_input);
  for (std::uint32_t i = 0; i < scheduler.devices().size(); ++i) {
    const DeviceSlot& slot = scheduler.devices()[DeviceId{i}];
    DeviceProgress device;
    device.name = slot.spec.name;
    device.memory = slot.spec.memory;
    device.taken = slot.taken;
    if (const std::optional<DeviceSample>& newest = meter_.newest(i)) {
      device.utilization = newest->utilization;
      device.used = newest->used;
    }
    for (const DeviceLease& lease : slot.leases) {
      const DrivenAttempt* attempt = driver.attempts().find(lease.job);
      if (attempt == nullptr || attempt->pid == 0) {
        continue;
      }
      device.jobs.push_back(lease.job);
      if (const Duration running = at - attempt->begun; running >= device.running) {
        device.running = running;
        device.command = jobs[lease.job].command;
      }
    }
    progress.devices.push_back(std::move(device));
  }
  return progress;
}

RunSummary RunAccount::summarize(const Scheduler& scheduler, std::uint64_t lost_output, Time at) {
  summary_.elapsed = at - begun_;
  summary_.counts.not_run += scheduler.waiting();
  summary_.lost_output = lost_output;
  summary_.devices = meter_.totals();
  return summary_;
}

}  // namespace berth
