// Reservations: when each of the first waiting jobs will start if all goes as expected: the
// earliest time that delays nobody who got a reservation before it.
#pragma once

#include <map>
#include <set>
#include <utility>

#include "policy/profile.h"

namespace berth {

class Reservations {
 public:
  struct Want {
    ShapeId shape;
    Amount amount = 0;
    Duration length{};
  };

  void join(JobId id, const Want& want);
  /// Returns whether the job had a reservation. What it held of the pool stays held.
  bool leave(JobId id);

  /// Gives up all reservations; `all` of the pool is free from now on.
  void clear(Time now, Amount all);
  /// A running job has so much of the pool until then.
  void block(Time now, Time until, Amount amount) { profile_.take(now, until, amount); }
  /// Makes reservations for the first jobs that have none.
  void make_more(Time now);
  void forget_before(Time now) { profile_.forget_before(now); }

  using InOrder = std::set<std::pair<Time, JobId>>;
  const InOrder& in_order() const { return planned_; }
  /// The first reservation after that time; kNever: none.
  Time next_after(Time now) const;
  ShapeId shape_of(JobId id) const { return waiting_.at(id).want.shape; }

 private:
  struct Waiting {
    Want want;
    Time start = kNever;
  };

  void reserve(JobId id, Waiting& job, Time now);

  std::map<JobId, Waiting> waiting_;
  InOrder planned_;
  std::set<JobId> unplanned_;  // those that have no reservation yet,
  std::set<JobId> hopeless_;   // and those that can have none
  Profile profile_{Time{}, 0};
};

}  // namespace berth
