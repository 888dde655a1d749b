// Devices that are not only ours: what other berths have leased, and what somebody has closed.
#include <fmt/format.h>

#include <utility>

#include "run/run.h"

namespace berth {

/// False when another berth has one of the devices, or its lock cannot be taken: then the job waits
/// on.
bool Run::take_locks(const StartJob& action, Time at) {
  if (locks_ == nullptr || action.devices.empty()) {
    return true;
  }
  const std::vector<DeviceLocks::Obstacle> obstacles = locks_->try_acquire(action.devices);
  if (obstacles.empty()) {
    return true;
  }
  StartRefused refusal{action.job, {}};
  for (const DeviceLocks::Obstacle& obstacle : obstacles) {
    refusal.taken.push_back(obstacle.device);
    if (!obstacle.passing) {
      taken_[obstacle.device] = obstacle;
    }
  }
  scheduler_->apply(refusal, at);
  refused_ = true;
  return false;
}

void Run::release_locks() {
  if (locks_ == nullptr) {
    return;
  }
  for (std::uint32_t i = 0; i < scheduler_->devices().size(); ++i) {
    if (locks_->holds(DeviceId{i}) && scheduler_->devices()[DeviceId{i}].leases.empty()) {
      locks_->release(DeviceId{i});
    }
  }
  for (const std::string& told : locks_->restore()) {
    observer_.warning(told);
  }
}

/// Only what keeps a job waiting is worth a word.
void Run::tell_of_waiting(Time at) {
  if (scheduler_->waiting() == 0) {
    return;
  }
  for (const auto& [device, obstacle] : std::exchange(taken_, {})) {
    const std::string& gpu = devices_.list()[device.value].spec.name;
    if (!announced_.insert({device, obstacle.holder.has_value()}).second) {
      continue;
    }
    if (obstacle.holder) {
      observer_.device_taken(gpu, *obstacle.holder);
    } else {
      observer_.warning(describe(obstacle, gpu) + "; trying again");
    }
  }
  const auto& heads = scheduler_->queue().heads();
  if (scheduler_->running().empty() && !scheduler_->paused() && !heads.empty()) {
    std::string why = describe(scheduler_->explain(heads.begin()->first.job, at), at);
    if (why != stalled_) {
      stalled_ = std::move(why);
      observer_.stalled(stalled_);
    }
  }
}

void Run::take_freed() {
  for (const DeviceId device : locks_->freed()) {
    taken_.erase(device);
    scheduler_->apply(DeviceTaken{device, false});
  }
  if (telemetry_ != nullptr) {
    // The last reading shows what its holder used, which would stand in the way of our job.
    telemetry_->refresh();
  }
}

void Run::take_closed() {
  const std::set<std::string> closed = options_.closed_devices();
  for (std::uint32_t i = 0; i < scheduler_->devices().size(); ++i) {
    const DeviceSlot& slot = scheduler_->devices()[DeviceId{i}];
    const auto wanted = closed.contains(slot.spec.name) ? DeviceHealth::Drained : DeviceHealth::Ok;
    if (slot.health != wanted && slot.health != DeviceHealth::Lost) {
      scheduler_->apply(DeviceChanged{DeviceId{i}, wanted});
    }
  }
}

}  // namespace berth
