// What must hold after every input, whatever happened; asked by the tests.
#include <fmt/format.h>

#include "core/scheduler.h"

namespace berth {
namespace {

/// A device is never promised twice: claims and shares fit, and who wants to be alone is.
std::string broken_lease(const DeviceSlot& slot) {
  std::uint32_t share = 0;
  Bytes claimed;
  for (const DeviceLease& lease : slot.leases) {
    if (lease.alone && slot.leases.size() > 1) {
      return fmt::format("job {} is not alone on device {}", lease.job.value, slot.spec.name);
    }
    if (lease.mps != slot.leases.front().mps) {
      return fmt::format("jobs {} and {} are on device {}, but not both through one user's MPS",
                         slot.leases.front().job.value, lease.job.value, slot.spec.name);
    }
    share += lease.share;
    claimed += lease.memory;
  }
  if (slot.taken && !slot.leases.empty()) {
    return fmt::format("job {} is on device {}, which another berth has",
                       slot.leases.front().job.value, slot.spec.name);
  }
  if (share > kWholeShare) {
    return fmt::format("device {} has {} thousandths leased", slot.spec.name, share);
  }
  if (slot.spec.memory > Bytes{} && claimed > slot.spec.memory) {
    return fmt::format("device {} has {} claimed", slot.spec.name, format_bytes(claimed));
  }
  return "";
}

}  // namespace

std::string Scheduler::broken_invariant(Time now) const {
  std::string broken;
  std::size_t leases = 0;
  for (std::uint32_t i = 0; i < devices_.size() && broken.empty(); ++i) {
    const DeviceSlot& slot = devices_[DeviceId{i}];
    broken = broken_lease(slot);
    leases += slot.leases.size();
    for (const DeviceLease& lease : slot.leases) {
      const Job* job = jobs_.find(lease.job);
      if (job == nullptr || job->lease() == nullptr ||
          std::count(job->lease()->begin(), job->lease()->end(), DeviceId{i}) != 1) {
        broken = fmt::format("device {} is leased to job {}, which does not hold it",
                             slot.spec.name, lease.job.value);
      }
    }
  }
  std::size_t waiting = 0;
  std::size_t running = 0;
  std::size_t competing = 0;
  std::size_t held_devices = 0;
  jobs_.for_each([&](const Job& job) {
    if (!broken.empty()) {
      return;
    }
    if (const std::vector<DeviceId>* lease = job.lease()) {
      ++running;
      held_devices += lease->size();
    }
    if (!job.waiting()) {
      return;
    }
    ++waiting;
    const auto* queued = std::get_if<Queued>(&job.state);
    const bool timed = queued != nullptr && job.timer != kNever;
    const bool eligible = queued != nullptr && queued->unmet == 0 && !timed;
    competing += eligible ? 1 : 0;
    if (eligible != is_ready(job)) {
      broken = fmt::format("job {} {} the queue", job.id.value,
                           eligible ? "is missing from" : "should not be in");
    } else if (explain(job.id, now).kind == Explanation::Kind::NotWaiting) {
      broken = fmt::format("job {} waits without a reason", job.id.value);
    }
  });
  if (broken.empty() && (waiting != waiting_ || running != running_.size() ||
                         competing != queue_.size() + away_.size() || held_devices != leases)) {
    broken = fmt::format(
        "counts differ: {} waiting ({}), {} running ({}), {} competing ({}), {} "
        "devices held ({})",
        waiting, waiting_, running, running_.size(), competing, queue_.size() + away_.size(),
        held_devices, leases);
  }
  if (broken.empty() && !refusal_.empty()) {
    broken = "a proposal was turned down: " + refusal_;
  }
  return broken;
}

}  // namespace berth
