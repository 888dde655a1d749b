// The machine as one pool: how much a job takes of it and how much there is, in thousandths of a
// GPU. Policies that look ahead or preempt calculate with that. If the pool has room but no set of
// devices fits, the job waits until one does.
#pragma once

#include <algorithm>

#include "core/policy.h"

namespace berth {

using Amount = std::int64_t;

inline Amount amount_of(const Needs& needs) {
  return static_cast<Amount>(needs.gpus) * (needs.share == 0 ? kWholeShare : needs.share);
}

/// The same where devices have this much memory: a job that claims some takes that part of a
/// device, or its share if that is more. Rounded down, so that what fits on a device fits into the
/// pool.
inline Amount amount_of(const Needs& needs, Bytes device) {
  if (needs.memory == Bytes{} || device == Bytes{}) {
    return amount_of(needs);
  }
  const double part = static_cast<double>(needs.memory.count) / static_cast<double>(device.count);
  const auto claim = static_cast<Amount>(std::min(part, 1.0) * kWholeShare);
  return static_cast<Amount>(needs.gpus) *
         std::max({claim, static_cast<Amount>(needs.share), Amount{1}});
}

/// What a job claims of each of its devices; nothing where it has none.
inline Bytes claim_of(const Needs& needs) { return needs.gpus > 0 ? needs.memory : Bytes{}; }

inline Amount pool_size(const DeviceTable& devices) {
  return static_cast<Amount>(devices.serving()) * kWholeShare;
}

/// The memory of the largest device; 0 where it is not known of one. On smaller devices, a job may
/// find less room than the pool has, but never more.
inline Bytes largest_memory(const DeviceTable& devices) {
  Bytes largest;
  for (const DeviceSlot& slot : devices.all()) {
    if (slot.spec.memory == Bytes{}) {
      return {};
    }
    largest = std::max(largest, slot.spec.memory);
  }
  return largest;
}

}  // namespace berth
