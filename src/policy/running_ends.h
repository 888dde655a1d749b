// RunningEnds: the running jobs by the time at which they are expected to end.
#pragma once

#include <span>
#include <vector>

#include "policy/pool.h"

namespace berth {

class RunningEnds {
 public:
  struct End {
    Time when;
    JobId job;
    Amount amount = 0;
  };

  void add(const Job& job, const Needs& needs, Time now);
  void remove(const Job& job);

  /// For a checkpoint: the jobs in order, each with its end.
  void add_to(PolicyBooks& books) const;
  /// Takes the ends from a checkpoint; false when they are not those of the running jobs.
  bool take(std::span<const std::int64_t> books);

  /// The amount that all running jobs hold together.
  Amount amount() const { return amount_; }
  const std::vector<End>& in_order() const { return ends_; }

  /// When `wanted` will be free, given that `room` is free now, and how much will be free beyond
  /// it. A job that is past its expected end may end at any moment.
  struct Shadow {
    Time when = kNever;
    Amount spare = 0;
  };
  Shadow shadow(Amount wanted, Amount room, Time now) const;

 private:
  std::vector<End> ends_;  // sorted by time
  Amount amount_ = 0;
};

}  // namespace berth
