// How a run goes: readings of the devices, progress, and the account at the end.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "run/run.h"

namespace berth {

void Run::take_samples() {
  std::optional<Telemetry::Reading> reading = telemetry_->take();
  if (!reading) {
    return;
  }
  for (std::uint32_t i = 0; i < reading->samples.size(); ++i) {
    const DeviceSample& sample = reading->samples[i];
    const DeviceSlot& slot = scheduler_->devices()[DeviceId{i}];
    if (sample.lost != (slot.health == DeviceHealth::Lost)) {
      observer_.warning(
          fmt::format("GPU {} {}", slot.spec.name,
                      sample.lost ? "is lost: nothing more starts on it" : "is back"));
      scheduler_->apply(
          DeviceChanged{DeviceId{i}, sample.lost ? DeviceHealth::Lost : DeviceHealth::Ok});
    }
    // Where a driver does not tell processes apart, what is used beside our jobs cannot be known.
    const bool unknown = sample.processes.empty() && !slot.leases.empty();
    if (!unknown) {
      scheduler_->apply(ForeignUse{DeviceId{i}, reading->use[i].foreign});
    }
    meter_.add_sample(i, sample);
  }
  for (const JobUse& use : memory_.take(*reading, scheduler_->devices())) {
    scheduler_->apply(use, now());
  }
  // Whoever took the memory of those that have ended since still has it.
  for (const Exit& exit : std::exchange(complaints_, {})) {
    take_exit(exit, now());
  }
  for (auto& [id, active] : active_) {
    if (mps_ != nullptr && memory_.peak(JobId{id}) > Bytes{}) {
      mps_->at_work(JobId{id});
    }
  }
}

/// From how long jobs took so far. Those that run are taken to be half done.
Duration Run::estimate_remaining() const {
  const std::uint64_t ended = summary_.counts.ended();
  if (ended == 0 || input_ || active_.empty()) {
    return kForever;
  }
  const double mean = to_seconds(summary_.total_runtime) / static_cast<double>(ended);
  const double rounds =
      static_cast<double>(scheduler_->waiting()) / static_cast<double>(active_.size()) + 0.5;
  return std::chrono::duration_cast<Duration>(std::chrono::duration<double>(mean * rounds));
}

RunCounts Run::counts() const {
  RunCounts counts = summary_.counts;
  counts.running = scheduler_->running().size();
  counts.waiting = scheduler_->waiting();
  return counts;
}

RunProgress Run::progress(Time at) const {
  RunProgress progress;
  progress.counts = counts();
  progress.input_open = input_.has_value();
  progress.elapsed = at - begun_;
  progress.remaining = estimate_remaining();
  for (std::uint32_t i = 0; i < devices_.list().size(); ++i) {
    const DeviceSlot& slot = scheduler_->devices()[DeviceId{i}];
    DeviceProgress device;
    device.name = slot.spec.name;
    device.memory = slot.spec.memory;
    device.taken = slot.taken;
    if (const std::optional<DeviceSample>& newest = meter_.newest(i)) {
      device.utilization = newest->utilization;
      device.used = newest->used;
    }
    for (const DeviceLease& lease : slot.leases) {
      const auto found = active_.find(lease.job.value);
      if (found == active_.end()) {
        continue;
      }
      device.jobs.push_back(lease.job);
      if (const Duration running = at - found->second.started; running >= device.running) {
        device.running = running;
        device.command = records_.find(lease.job)->command;
      }
    }
    progress.devices.push_back(std::move(device));
  }
  return progress;
}

RunSummary Run::summarize(Time at) {
  summary_.elapsed = at - begun_;
  summary_.counts.not_run += scheduler_->waiting();
  summary_.lost_output = outputs_.lost();
  summary_.devices = meter_.totals();
  return summary_;
}

void RunObserver::device_taken(std::string_view gpu, const LockHolder& holder) {
  warning(
      fmt::format("GPU {} is in use by another berth ({}): waiting for it", gpu, describe(holder)));
}

void RunObserver::interrupted(int level, std::uint64_t running) {
  warning(level == 1   ? fmt::format("starting nothing more; {} running jobs may finish (again: "
                                       "TERM, a third time: KILL)",
                                     running)
          : level == 2 ? fmt::format("sent TERM to {} running jobs (again: KILL)", running)
                       : fmt::format("killed {} running jobs", running));
}

int exit_code(const RunSummary& summary) {
  const RunCounts& counts = summary.counts;
  if (summary.interrupted && counts.not_run + counts.cancelled > 0) {
    return 130;
  }
  if (counts.failed > 0 || counts.cancelled > 0 || (counts.not_run > 0 && counts.timed_out == 0)) {
    return 1;
  }
  if (counts.timed_out > 0) {
    return 124;
  }
  if (counts.invalid > 0) {
    return 2;
  }
  return summary.log_failed || summary.lost_output > 0 ? 1 : 0;
}

}  // namespace berth
