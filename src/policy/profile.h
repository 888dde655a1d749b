// Profile: how much of the pool will be free when, if all goes as expected.
#pragma once

#include <vector>

#include "policy/pool.h"

namespace berth {

class Profile {
 public:
  Profile(Time now, Amount free) : steps_{{now, free}} {}

  /// The first time not before `from` at which `amount` is free for `length`; kNever: none.
  Time earliest(Time from, Duration length, Amount amount) const;
  /// The same for one who has `amount` from `start` on for `length` already: the first time not
  /// before `from` to which this could move, or `start`.
  Time earlier(Time from, Time start, Duration length, Amount amount) const;

  /// From `from` until `until`, `amount` less or more is free.
  void take(Time from, Time until, Amount amount) { add(from, until, -amount); }
  void give(Time from, Time until, Amount amount) { add(from, until, amount); }
  void forget_before(Time now);

  /// Whether more has been taken, at some time before `until`, than there is.
  bool is_overdrawn(Time until) const;

 private:
  struct Step {
    Time from;
    Amount free = 0;  // until the next step
  };
  using Steps = std::vector<Step>;

  void add(Time from, Time until, Amount amount);
  /// The step in which this time lies; the first for times before all.
  std::size_t step_with(Time when) const;
  /// The step that begins at this time, made if there is none.
  std::size_t step_at(Time when);
  /// Joins the step with the one before it, if they do not differ.
  void join(std::size_t step);

  Steps steps_;  // by time; the last has no end
};

}  // namespace berth
