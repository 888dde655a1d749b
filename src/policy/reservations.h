// Reservations: when each of the first waiting jobs will start if all goes as expected. A job gets
// the earliest time that delays nobody who has a reservation, and later only better ones, unless
// others stay for longer than expected.
#pragma once

#include <map>
#include <set>
#include <span>
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
  /// Returns whether the job had a reservation, which it gives back.
  bool leave(JobId id);

  /// A running job has so much of the pool at this time, or no longer has it.
  void take(Time from, Time until, Amount amount) { profile_.take(from, until, amount); }
  void give(Time from, Time until, Amount amount) { profile_.give(from, until, amount); }
  /// Whether reservations before that time and running jobs want more than there is.
  bool is_overdrawn(Time until) const { return profile_.is_overdrawn(until); }

  /// Makes reservations for the first jobs that have none.
  void make_more(Time now);
  /// Moves each reservation, in their order, to the earliest time that delays nobody.
  void compress(Time now);
  void forget_before(Time now) { profile_.forget_before(now); }

  // To plan anew: clear(), measure() if need be, then take() for each running job, then one of the
  // others.

  /// `all` of the pool is free from now on.
  void clear(Time now, Amount all) { profile_ = Profile(now, all); }
  /// Makes all reservations anew, in their order: nobody is delayed who need not be.
  void make_again(Time now);
  /// Gives up all reservations; make_more() makes them in order of submission.
  void give_up();
  /// What each job takes has changed.
  template <class AmountOf>
  void measure(AmountOf amount_of_shape) {
    for (auto& [id, job] : waiting_) {
      job.want.amount = amount_of_shape(job.want.shape);
    }
  }

  using InOrder = std::set<std::pair<Time, JobId>>;
  const InOrder& in_order() const { return planned_; }
  /// The first reservation after that time; kNever: none.
  Time next_after(Time now) const;
  /// When the job's reservation begins; kNever: it has none.
  Time start_of(JobId id) const {
    const auto found = waiting_.find(id);
    return found == waiting_.end() ? kNever : found->second.start;
  }
  ShapeId shape_of(JobId id) const { return waiting_.at(id).want.shape; }

  /// For a checkpoint: the reservations, which are to be made again in this order.
  void add_to(PolicyBooks& books) const;
  bool take_books(std::span<const std::int64_t> books);

 private:
  struct Waiting {
    Want want;
    Time start = kNever;
  };

  class Found;
  void reserve(JobId id, Found& found);
  static Time end_of(const Waiting& job) { return add_saturating(job.start, job.want.length); }

  std::map<JobId, Waiting> waiting_;
  InOrder planned_;
  std::set<JobId> unplanned_;  // those that have no reservation yet,
  std::set<JobId> hopeless_;   // and those that can have none
  Profile profile_{Time{}, 0};
};

}  // namespace berth
