#include "sim/meters.h"

#include <algorithm>

namespace berth {
namespace {

constexpr double kGib = 1024.0 * 1024 * 1024;

}  // namespace

Meters::Meters(const std::vector<SimJob>& jobs, const Machine& machine, bool timeline)
    : jobs_(jobs), machine_(machine), timeline_(timeline), busy_(machine.size()) {
  for (const SimDevice& device : machine) {
    power_ += device.spec.power.idle;
  }
  run_.peak_power_w = power_;
  run_.outcomes.resize(jobs.size());
  for (const SimJob& job : jobs) {
    run_.first_submit = std::min(run_.first_submit, std::max(job.submit, job.begin));
  }
}

void Meters::pass_time(Time from, Time until) {
  run_.energy_j +=
      power_ * to_seconds(std::max(until, run_.first_submit) - std::max(from, run_.first_submit));
}

bool Meters::started(std::uint32_t job, Time now) {
  JobOutcome& outcome = run_.outcomes[job];
  if (outcome.started != kNever) {
    return false;
  }
  outcome.started = now;
  return true;
}

void Meters::ended(std::uint32_t job, Time now) {
  run_.outcomes[job].ended = now;
  run_.last_end = std::max(run_.last_end, now);
}

void Meters::preempted(std::uint32_t job) {
  ++run_.preemptions;
  ++run_.outcomes[job].preempted;
}

void Meters::waste(std::uint32_t job, Duration work) {
  run_.wasted_gpu_seconds += to_seconds(work) * jobs_[job].gpus;
}

void Meters::enter(const std::vector<DeviceId>& devices, Time now) {
  for (const DeviceId device : devices) {
    Busy& busy = busy_[device.value];
    if (busy.jobs++ == 0) {
      power_ += extra_power(device);
      busy.since = now;
    }
  }
  run_.peak_power_w = std::max(run_.peak_power_w, power_);
}

void Meters::leave(std::uint32_t job, const std::vector<DeviceId>& devices, Time since, Time now) {
  const SimJob& left = jobs_[job];
  const double seconds = to_seconds(now - since);
  const auto count = static_cast<double>(devices.size());
  const double share = left.share == 0 ? 1.0 : left.share / 1000.0;
  run_.outcomes[job].ran += now - since;
  run_.gpu_seconds += seconds * count * share;
  run_.memory_gib_seconds +=
      seconds * count * static_cast<double>(mebibytes(left.memory_mib).count) / kGib;
  for (const DeviceId device : devices) {
    Busy& busy = busy_[device.value];
    if (--busy.jobs == 0) {
      power_ -= extra_power(device);
      run_.device_seconds += to_seconds(now - busy.since);
    }
    if (timeline_ && now > since) {
      run_.timeline.push_back({job, device, since, now});
    }
  }
}

}  // namespace berth
