#include "policy/profile.h"

#include <algorithm>

namespace berth {

Time Profile::earliest(Time from, Duration length, Amount amount) const {
  Time start = kNever;
  for (std::size_t i = step_with(from); i < steps_.size(); ++i) {
    if (steps_[i].free < amount) {
      start = kNever;
      continue;
    }
    start = start == kNever ? std::max(steps_[i].from, from) : start;
    const Time end = i + 1 < steps_.size() ? steps_[i + 1].from : kNever;
    if (add_saturating(start, length) <= end) {
      return start;
    }
  }
  return kNever;
}

Time Profile::earlier(Time from, Time start, Duration length, Amount amount) const {
  // From `start` on there is room for it: that is its own.
  Time hole = start;
  for (std::size_t i = step_with(from); i < steps_.size() && steps_[i].from < start; ++i) {
    if (steps_[i].free < amount) {
      hole = start;
      continue;
    }
    hole = hole == start ? std::max(steps_[i].from, from) : hole;
    const Time end = i + 1 < steps_.size() ? steps_[i + 1].from : kNever;
    if (add_saturating(hole, length) <= end) {
      return hole;
    }
  }
  return hole;
}

void Profile::add(Time from, Time until, Amount amount) {
  if (from >= until) {
    return;
  }
  const std::size_t first = step_at(from);
  const std::size_t end = until == kNever ? steps_.size() : step_at(until);
  for (std::size_t i = first; i < end; ++i) {
    steps_[i].free += amount;
  }
  join(end);
  join(first);
}

void Profile::forget_before(Time now) {
  steps_.erase(steps_.begin(), steps_.begin() + static_cast<std::ptrdiff_t>(step_with(now)));
}

bool Profile::is_overdrawn(Time until) const {
  return std::any_of(steps_.begin(), steps_.end(),
                     [&](const Step& step) { return step.from < until && step.free < 0; });
}

std::size_t Profile::step_with(Time when) const {
  const auto after = std::upper_bound(steps_.begin(), steps_.end(), when,
                                      [](Time time, const Step& step) { return time < step.from; });
  return after == steps_.begin() ? 0 : static_cast<std::size_t>(after - steps_.begin()) - 1;
}

std::size_t Profile::step_at(Time when) {
  const std::size_t step = step_with(when);
  if (steps_[step].from == when) {
    return step;
  }
  const std::size_t at = when < steps_[step].from ? step : step + 1;
  steps_.insert(steps_.begin() + static_cast<std::ptrdiff_t>(at), {when, steps_[step].free});
  return at;
}

void Profile::join(std::size_t step) {
  if (step > 0 && step < steps_.size() && steps_[step].free == steps_[step - 1].free) {
    steps_.erase(steps_.begin() + static_cast<std::ptrdiff_t>(step));
  }
}

}  // namespace berth
