// The machine as one pool: how much a job takes of it and how much there is, in thousandths of a
// GPU. Policies that look ahead or preempt calculate with that. If the pool has room but no set of
// devices fits, the job waits until one does.
#pragma once

#include "core/policy.h"

namespace berth {

using Amount = std::int64_t;

inline Amount amount_of(const Needs& needs) {
  return static_cast<Amount>(needs.gpus) * (needs.share == 0 ? kWholeShare : needs.share);
}

inline Amount pool_size(const DeviceTable& devices) {
  return static_cast<Amount>(devices.serving()) * kWholeShare;
}

}  // namespace berth
