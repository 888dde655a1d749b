#include "policy/window_order.h"

#include <algorithm>

namespace berth {
namespace {

constexpr double kLengths = 20;
constexpr Duration kLongestWindow = std::chrono::hours(24 * 8);
/// Of jobs whose length nobody knows.
constexpr Duration kTypicalLength = std::chrono::hours(1);

Duration length_of(const Job& job) { return std::min(job.expected_left(), job.limit); }

}  // namespace

/// The harmonic sum of twenty lengths and the longest window: about the former for short jobs,
/// about the latter for long ones, and always longer for a longer job.
Duration window_of(Duration length) {
  const double lengths = kLengths * to_seconds(length == kForever ? kTypicalLength : length);
  const double longest = to_seconds(kLongestWindow);
  return std::chrono::duration_cast<Duration>(
      std::chrono::duration<double>(lengths * longest / (lengths + longest)));
}

Rank WindowOrder::raised(const Job& job) const {
  // A user may choose any aging: beyond the range, all priorities of one sign are one.
  constexpr Rank kMost = Rank{1} << 61;
  const Rank step = rank_of(Time(aging));
  Rank raised = 0;
  if (__builtin_mul_overflow(step, Rank{job.priority}, &raised)) {
    raised = job.priority < 0 ? -kMost : kMost;
  }
  return std::clamp(raised, -kMost, kMost);
}

Rank WindowOrder::rank(const Job& job) const {
  return rank_of(job.submitted) + rank_of(Time(window_of(length_of(job)))) + raised(job);
}

Promise WindowOrder::promise(const Job& job) const {
  const Duration window = window_of(length_of(job));
  return {job.submitted + window, window, length_of(job)};
}

}  // namespace berth
