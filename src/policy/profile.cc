#include "policy/profile.h"

#include <algorithm>

namespace berth {

Time Profile::earliest(Time from, Duration length, Amount amount) const {
  Time start = kNever;
  for (auto step = steps_.begin(); step != steps_.end();) {
    const auto [begin, free] = *step;
    const Time end = ++step != steps_.end() ? step->from : kNever;
    if (end <= from) {
      continue;
    }
    if (free < amount) {
      start = kNever;
      continue;
    }
    start = start == kNever ? std::max(begin, from) : start;
    if (add_saturating(start, length) <= end) {
      return start;
    }
  }
  return kNever;
}

Profile::Steps::iterator Profile::step_at(Time when) {
  auto after = std::upper_bound(steps_.begin(), steps_.end(), when,
                                [](Time time, const Step& step) { return time < step.from; });
  if (after == steps_.begin()) {
    return steps_.insert(after, {when, steps_.front().free});
  }
  const auto before = after - 1;
  return before->from == when ? before : steps_.insert(after, {when, before->free});
}

void Profile::take(Time from, Time until, Amount amount) {
  step_at(from);
  const auto end = until == kNever ? steps_.end() : step_at(until);
  const auto last = end - steps_.begin();
  for (auto i = step_at(from) - steps_.begin(); i < last; ++i) {
    steps_[static_cast<std::size_t>(i)].free -= amount;
  }
}

void Profile::forget_before(Time now) {
  while (steps_.size() > 1 && steps_[1].from <= now) {
    steps_.pop_front();
  }
}

}  // namespace berth
