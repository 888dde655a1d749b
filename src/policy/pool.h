// The machine as one pool: what a job takes of it and how much there is, in thousandths of a GPU.
// Policies that look ahead or preempt reckon with that; where the pool would have room but no
// devices fit together, the job waits until they do.
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
