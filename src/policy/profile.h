// Profile: how much of the pool will be free when, if all goes as expected.
#pragma once

#include <deque>

#include "policy/pool.h"

namespace berth {

class Profile {
 public:
  Profile(Time now, Amount free) : steps_{{now, free}} {}

  /// The first time not before `from` at which `amount` is free for `length`; kNever: none.
  Time earliest(Time from, Duration length, Amount amount) const;
  /// From `from` until `until`, `amount` less is free.
  void take(Time from, Time until, Amount amount);
  void forget_before(Time now);

 private:
  struct Step {
    Time from;
    Amount free = 0;  // until the next step
  };
  using Steps = std::deque<Step>;

  /// The step that begins at this time, made if there is none.
  Steps::iterator step_at(Time when);

  Steps steps_;  // by time; the last has no end
};

}  // namespace berth
