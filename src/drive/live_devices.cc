#include "drive/live_devices.h"

#include <algorithm>
#include <utility>

#include "gpu/expected_power.h"

namespace berth {

LiveDevices::LiveDevices(ToldScheduler& scheduler, Host& host, Devices& devices, std::string mark,
                         Duration sample_interval)
    : scheduler_(scheduler),
      host_(host),
      devices_(devices),
      mark_(std::move(mark)),
      sample_interval_(sample_interval) {}

void LiveDevices::add_new(bool measure_power) {
  const auto power =
      measure_power ? expected_power(devices_) : std::map<std::string, DevicePower>{};
  const Time at = host_.now();
  for (std::size_t i = states_.size(); i < devices_.list().size(); ++i) {
    DeviceSpec spec = devices_.list()[i].spec;
    if (const auto expected = power.find(spec.name); expected != power.end()) {
      spec.power = expected->second;
    }
    scheduler_.add_device(std::move(spec), at);
    states_.emplace_back();
  }
  if (locks_ != nullptr) {
    locks_->extend(devices_.list());
  }
}

void LiveDevices::use_locks(DeviceLocks* locks) {
  locks_ = locks;
  if (locks_ == nullptr) {
    return;
  }
  host_.watch(locks_->event_fd(), "locks of devices", [this] { take_freed(); });
  for (std::uint32_t i = 0; i < scheduler_->devices().size(); ++i) {
    hold_in_use(DeviceId{i});
  }
}

/// Locks a device on which jobs of an earlier process run. Their shims hold it anyway.
void LiveDevices::hold_in_use(DeviceId device) {
  if (scheduler_->devices()[device].leases.empty()) {
    return;
  }
  for (const DeviceLocks::Obstacle& obstacle : locks_->try_acquire({&device, 1})) {
    host_.inform("a job is on a device that is not locked: " +
                 describe(obstacle, info(obstacle.device).spec.name));
  }
}

bool LiveDevices::lease(const StartJob& start, Time at) {
  for (const DeviceId device : start.devices) {
    states_[device.value].had_jobs = true;
  }
  if (locks_ == nullptr || start.devices.empty()) {
    return true;
  }
  const std::vector<DeviceLocks::Obstacle> obstacles = locks_->try_acquire(start.devices);
  if (obstacles.empty()) {
    return true;
  }
  StartRefused refused{start.job, {}};
  for (const DeviceLocks::Obstacle& obstacle : obstacles) {
    refused.taken.push_back(obstacle.device);
    if (!obstacle.passing) {
      host_.blocked(obstacle);
    }
  }
  scheduler_.tell(refused, at);
  return false;
}

void LiveDevices::release_unused() {
  if (locks_ == nullptr) {
    return;
  }
  for (std::uint32_t i = 0; i < scheduler_->devices().size(); ++i) {
    const DeviceId device{i};
    if (locks_->holds(device) && scheduler_->devices()[device].leases.empty()) {
      locks_->release(device);
    }
  }
  for (const std::string& told : locks_->restore()) {
    host_.inform(told);
  }
}

/// What could not be locked is worth another try.
void LiveDevices::take_freed() {
  const Time at = host_.now();
  for (const DeviceId device : locks_->freed()) {
    if (scheduler_->devices()[device].taken) {
      scheduler_.tell(DeviceTaken{device, false}, at);
    }
    hold_in_use(device);
  }
  // The last reading shows what the other instance used, which would stand in the way of our jobs.
  read_soon();
}

void LiveDevices::start_readings() {
  telemetry_ = std::make_unique<Telemetry>(devices_, mark_, sample_interval_);
  for (const auto& [job, root] : jobs_) {
    telemetry_->job_started(root);
  }
  take_newest();
  host_.watch(telemetry_->event_fd(), "readings of devices", [this] { take_newest(); });
}

void LiveDevices::stop_readings() {
  if (telemetry_ != nullptr) {
    host_.unwatch(telemetry_->event_fd());
    telemetry_.reset();
    asked_before_ = asked_;
  }
}

std::uint64_t LiveDevices::read_soon() {
  if (telemetry_ != nullptr) {
    asked_ = asked_before_ + telemetry_->refresh();
  }
  return asked_;
}

void LiveDevices::job_started(const JobRoot& root) {
  jobs_[root.job] = root;
  if (telemetry_ != nullptr) {
    telemetry_->job_started(root);
  }
}

void LiveDevices::job_ended(JobId job) {
  if (jobs_.erase(job) > 0 && telemetry_ != nullptr) {
    telemetry_->job_ended(job);
  }
}

void LiveDevices::take_newest() {
  if (std::optional<Telemetry::Reading> reading = telemetry_->take()) {
    reading->asked += asked_before_;
    take_reading(*reading);
  }
}

void LiveDevices::take_reading(const Telemetry::Reading& reading) {
  const Time at = host_.now();
  for (std::uint32_t i = 0; i < reading.samples.size() && i < states_.size(); ++i) {
    const DeviceId device{i};
    DeviceState& state = states_[i];
    state.sample = reading.samples[i];
    state.use = reading.use[i];
    if (state.lost != state.sample->lost) {
      state.lost = state.sample->lost;
      settle_health(device, at);
    }
    if (const Bytes foreign = foreign_use(device);
        scheduler_->devices()[device].foreign != foreign) {
      scheduler_.tell(ForeignUse{device, foreign}, at);
    }
    state.had_jobs = !scheduler_->devices()[device].leases.empty();
  }
  if (on_reading_) {
    on_reading_(reading, at);
  }
}

/// What others use of it. Where a driver lists no processes, as in a container, that cannot be told
/// from what our jobs use, nor from what one used that has ended since the last reading: then it is
/// no more than was known before, and no more than is used at all.
Bytes LiveDevices::foreign_use(DeviceId device) const {
  const DeviceState& state = states_[device.value];
  const DeviceSlot& slot = scheduler_->devices()[device];
  const bool ours = state.had_jobs || !slot.leases.empty();
  return ours && state.sample->processes.empty() ? std::min(slot.foreign, state.use.foreign)
                                                 : state.use.foreign;
}

void LiveDevices::settle_health(DeviceId device, Time at) {
  const DeviceState& state = states_[device.value];
  const DeviceHealth health = state.removed   ? DeviceHealth::Removed
                              : state.lost    ? DeviceHealth::Lost
                              : state.drained ? DeviceHealth::Drained
                                              : DeviceHealth::Ok;
  if (const DeviceHealth before = scheduler_->devices()[device].health; before != health) {
    scheduler_.tell(DeviceChanged{device, health}, at);
    host_.device_changed(device, before);
  }
}

void LiveDevices::set_drained(DeviceId device, bool drained, Time at) {
  states_[device.value].drained = drained;
  settle_health(device, at);
}

void LiveDevices::set_removed(DeviceId device, bool removed, Time at) {
  states_[device.value].removed = removed;
  settle_health(device, at);
}

}  // namespace berth
