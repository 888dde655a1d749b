// The daemon's device locks: what other berths on this machine have, and what cannot be locked.
#include <fmt/format.h>

#include <algorithm>

#include "daemon/daemon.h"

namespace berth {
namespace {

constexpr std::size_t kMostObstacles = 3;  // that an explanation names

}  // namespace

/// Also when devices have joined.
Result<void> Daemon::open_locks() {
  if (locks_ != nullptr) {
    locks_->extend(devices_.list());
    return {};
  }
  Result<std::unique_ptr<DeviceLocks>> opened = DeviceLocks::open(
      {"daemon", paths_.state, "berth daemon of " + paths_.state}, devices_.list());
  if (!opened) {
    return Failure(opened.error());
  }
  locks_ = std::move(*opened);
  loop_.watch(locks_->event_fd(), [this] { take_freed(); });
  for (std::uint32_t i = 0; i < scheduler_->devices().size(); ++i) {
    hold(DeviceId{i});
  }
  return {};
}

/// Locks a device on which jobs of an earlier daemon run. Their shims hold it anyway.
void Daemon::hold(DeviceId device) {
  if (scheduler_->devices()[device].leases.empty()) {
    return;
  }
  for (const DeviceLocks::Obstacle& obstacle : locks_->try_acquire({&device, 1})) {
    log_.write("a job is on a device that is not locked: {}",
               describe(obstacle, devices_.list()[obstacle.device.value].spec.name));
  }
}

/// False when the job must wait, because another berth has one of the devices or its lock cannot be
/// taken: it is there to keep others out, and who cannot lock runs nothing rather than twice.
bool Daemon::take_locks(const StartJob& action, Time at) {
  if (action.devices.empty()) {
    return true;
  }
  const std::vector<DeviceLocks::Obstacle> obstacles = locks_->try_acquire(action.devices);
  if (obstacles.empty()) {
    return true;
  }
  StartRefused refused{action.job, {}};
  for (const DeviceLocks::Obstacle& obstacle : obstacles) {
    refused.taken.push_back(obstacle.device);
    if (!obstacle.passing) {
      log_.write("jobs wait: {}",
                 describe(obstacle, devices_.list()[obstacle.device.value].spec.name));
    }
  }
  journal(refused, at);
  scheduler_->apply(refused, at);
  refused_ = true;
  return false;
}

/// At the end of a turn, so that a device that goes from job to job stays locked.
void Daemon::release_locks() {
  for (std::uint32_t i = 0; i < scheduler_->devices().size(); ++i) {
    const DeviceId device{i};
    if (locks_->holds(device) && scheduler_->devices()[device].leases.empty()) {
      locks_->release(device);
    }
  }
  for (const std::string& told : locks_->restore()) {
    log_.write("{}", told);
  }
}

/// What could not be locked is worth another try.
void Daemon::take_freed() {
  const Time at = now();
  for (const DeviceId device : locks_->freed()) {
    if (scheduler_->devices()[device].taken) {
      journal(DeviceTaken{device, false}, at);
      scheduler_->apply(DeviceTaken{device, false});
    }
    hold(device);
  }
}

/// Why a job waits, with what stands in the way of devices that would serve it.
std::string Daemon::explain_waiting(const Job& job, Explanation why) const {
  std::vector<std::string> obstacles;
  for (std::uint32_t i = 0; i < scheduler_->devices().size(); ++i) {
    const DeviceId device{i};
    const DeviceLocks::Obstacle* obstacle = locks_->obstacle(device);
    if (why.kind == Explanation::Kind::NoDevice && obstacle != nullptr &&
        scheduler_->devices().fits_when_empty(device, scheduler_->needs(job))) {
      obstacles.push_back(describe(*obstacle, devices_.list()[i].spec.name));
      if (!obstacle->holder && why.taken > 0) {
        --why.taken;  // nobody has it: it is told what went wrong instead
      }
    }
  }
  std::string text = describe(why, now());
  const std::size_t shown = std::min(obstacles.size(), kMostObstacles);
  if (shown > 0) {
    text += fmt::format("; {}", fmt::join(obstacles.begin(), obstacles.begin() + shown, "; "));
  }
  if (shown < obstacles.size()) {
    text += fmt::format("; and {} more", obstacles.size() - shown);
  }
  return text;
}

}  // namespace berth
