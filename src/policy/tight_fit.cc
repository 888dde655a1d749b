#include "policy/tight_fit.h"

#include <algorithm>

namespace berth {

void TightFit::look(const DeviceTable& devices, std::span<const RankedJob> waiting) {
  shares_.clear();
  for (const RankedJob& job : waiting) {
    shares_.push_back(job.share);
  }
  std::sort(shares_.begin(), shares_.end());
  count_ = devices.size() <= kMostDevices ? devices.size() : 0;
  for (std::uint32_t i = 0; i < count_; ++i) {
    const DeviceSlot& slot = devices[DeviceId{i}];
    double share = 1;
    double memory = static_cast<double>(slot.spec.memory.count - slot.foreign.count);
    for (const DeviceLease& lease : slot.leases) {
      share -= static_cast<double>(lease.share) / kWholeShare;
      memory -= static_cast<double>(lease.held().count);
    }
    free_share_[i] = share;
    free_memory_[i] = memory / std::max(static_cast<double>(slot.spec.memory.count), 1.0);
  }
}

std::optional<TightFit::Place> TightFit::find(const DeviceTable& devices, const Needs& needs,
                                              std::span<const DeviceId> avoid) const {
  std::optional<Place> best;
  for (std::uint32_t i = 0; i < count_; ++i) {
    const DeviceId device{i};
    if (std::find(avoid.begin(), avoid.end(), device) != avoid.end() ||
        !devices.fits(device, needs)) {
      continue;
    }
    const double whole = std::max(static_cast<double>(devices[device].spec.memory.count), 1.0);
    const double slack = std::clamp(
        needs.share > 0 ? free_share_[i] - static_cast<double>(needs.share) / kWholeShare
                        : free_memory_[i] - static_cast<double>(needs.memory.count) / whole,
        0.0, 1.0);
    if (!best || slack < best->slack) {
      best = Place{device, slack, 0};
    }
  }
  if (best) {
    best->gap = gap_of(best->slack);
  }
  return best;
}

double TightFit::gap_of(double slack) const {
  const auto after = std::upper_bound(shares_.begin(), shares_.end(), slack);
  return after == shares_.begin() ? slack : slack - *(after - 1);
}

}  // namespace berth
