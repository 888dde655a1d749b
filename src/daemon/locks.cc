// The daemon's device locks: what other berths on this machine have, and what cannot be locked.
#include <fmt/format.h>

#include <algorithm>

#include "daemon/daemon.h"

namespace berth {
namespace {

constexpr std::size_t kMostObstacles = 3;  // that an explanation names

}  // namespace

Result<void> Daemon::open_locks() {
  Result<std::unique_ptr<DeviceLocks>> opened = DeviceLocks::open(
      {"daemon", paths_.state, "berth daemon of " + paths_.state}, devices_.list());
  if (!opened) {
    return Failure(opened.error());
  }
  locks_ = std::move(*opened);
  driver_->devices().use_locks(locks_.get());
  return {};
}

void Daemon::blocked(const DeviceLocks::Obstacle& obstacle) {
  log_.write("jobs wait: {}", describe(obstacle, devices_.list()[obstacle.device.value].spec.name));
}

/// Why a job waits, with what stands in the way of devices that would serve it.
std::string Daemon::explain_waiting(const Job& job, Explanation why) const {
  std::vector<std::string> obstacles;
  for (std::uint32_t i = 0; i < scheduler().devices().size(); ++i) {
    const DeviceId device{i};
    const DeviceLocks::Obstacle* obstacle = locks_->obstacle(device);
    if (why.kind == Explanation::Kind::NoDevice && obstacle != nullptr &&
        scheduler().devices().fits_when_empty(device, scheduler().needs(job))) {
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
