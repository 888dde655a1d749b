// The order of the default policy: short jobs soon, nobody late.
//
// A job's rank is when it was submitted plus its window: twenty times its expected length, but
// never more than about a week. So a job of ten minutes is passed only by jobs that come within the
// next three hours, and a job of any length only by those of the next eight days. Each step of
// priority counts as much as the longest window: priorities come first, but not for ever. The rank
// of a waiting job never changes, and nothing is sorted again.
#pragma once

#include "core/policy.h"

namespace berth {

struct WindowOrder {
  Duration aging;  // waiting time that outweighs one step of priority

  /// In microseconds: nanoseconds would run out of range at a few thousand steps of priority.
  Rank rank(const Job& job) const;
  Promise promise(const Job& job) const;
  /// The part of the rank that comes from the priority.
  Rank raised(const Job& job) const;
};

/// A job that comes so much later than a job of this length cannot pass it by being shorter.
/// kForever: a job of unknown length.
Duration window_of(Duration length);

constexpr Rank rank_of(Time when) {
  return when.time_since_epoch() / Duration(std::chrono::microseconds(1));
}

}  // namespace berth
