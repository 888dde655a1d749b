#include "policy/turn_taking.h"

namespace berth {
namespace {

// A rank is a level, what the job does on it, and its place among those that do the same.
enum class Does { Run, Wait };

constexpr int kPlaceBits = 57;
/// Between two places of waiting jobs, there are some for those who had a turn behind the former.
constexpr Rank kSpacing = 1024;
constexpr Rank kMiddle = Rank{1} << (kPlaceBits - 1);

Rank make_rank(std::uint32_t level, Does does, Rank place) {
  return (static_cast<Rank>(level) << (kPlaceBits + 2)) + (static_cast<Rank>(does) << kPlaceBits) +
         place;
}

Rank milliseconds(Time when) { return when.time_since_epoch() / std::chrono::milliseconds(1); }

/// A place among those that run: by the time since when, jobs that were already running last.
Rank running_place(Time since, bool ran_before, Rank number) {
  return (milliseconds(since) << 12) + (ran_before ? 1 << 11 : number & ((1 << 11) - 1));
}

/// A place among those that wait: by time, jobs whose turn is over behind those that come at the
/// same moment.
Rank waiting_place(Time when, bool turn_is_over) {
  return kMiddle + kSpacing * (2 * milliseconds(when) + (turn_is_over ? 1 : 0));
}

}  // namespace

Rank TurnTaking::rank(const Job& job, const Needs& needs) {
  const bool returned = job.id == returned_;
  returned_ = {};
  if (returned && returned_to_) {
    return *returned_to_;
  }
  const Rank place = returned && !returned_late_ ? kMiddle + kSpacing * --first_
                     : returned                  ? waiting_place(decided_at(), true)
                                                 : waiting_place(job.submitted, false);
  return make_rank(level_of(job, needs), Does::Wait, place);
}

void TurnTaking::admit(Runner& runner, const Job& job, const Needs& needs) {
  runner.level = level_of(job, needs);
  runner.moved = kNever;
  runner.place = running_place(runner.since, false, ++starts_);
  runner.lent = owed_ && *owed_ < QueueKey{job.rank, job.id} ? debts_ : 0;
}

Rank TurnTaking::rank_now(Runner& runner, Time now) {
  for (Time end = turn_ends(runner); end <= now; end = turn_ends(runner)) {
    runner.moved = end;
    runner.place = running_place(end, true, 0);
    next_turn(runner);
  }
  const Rank rank = rank_in_turn(runner, now);
  return is_lent(runner) ? std::max(rank, owed_->rank + 1) : rank;
}

Rank TurnTaking::rank_in_turn(const Runner& runner, Time now) const {
  // A job whose turn is over stands where it will wait if it is put back: or, with the others of
  // this moment put back before it, it would lose to them what it has been left.
  return runner.moved == now ? make_rank(runner.level, Does::Wait, waiting_place(now, true))
                             : make_rank(runner.level, Does::Run, runner.place);
}

void TurnTaking::put_back(const Runner& runner) {
  returned_ = runner.job;
  returned_late_ = runner.moved == decided_at();
  const bool gives_way = is_lent(runner) && runner.rank == owed_->rank + 1;
  returned_to_ = gives_way ? std::optional(runner.rank) : std::nullopt;
}

Time TurnTaking::owed_from(const Job& job) const {
  return add_saturating(add_saturating(job.submitted, job.traits().done), patience());
}

void TurnTaking::first_owed(const std::optional<QueueKey>& first) {
  debts_ += first == owed_ ? 0 : 1;
  owed_ = first;
}

Time TurnTaking::next_change() const {
  Time next = kNever;
  for (const Runner& runner : runners()) {
    next = std::min(next, turn_ends(runner));
  }
  return next;
}

}  // namespace berth
