// TurnTaking: for policies in which jobs queue up on levels, and running jobs stay in front until
// their turn is over. The order on each level is: running jobs, in order of their start; jobs that
// were put back before their turn was over, the latest first; other waiting jobs, in order of
// arrival; and jobs whose turn is over at this very moment.
//
// A waiting job that finds too few devices is owed them, or a stream of small jobs would keep a
// large one waiting for ever. Turns that begin behind the first such job are lent: a job that has
// one stands right behind that job, and gives way as soon as those in front leave it enough. So no
// device idles in the meantime.
#pragma once

#include "policy/preemptive.h"

namespace berth {

class TurnTaking : public Preemptive {
 public:
  Rank rank(const Job& job, const Needs& needs) final;

 protected:
  /// The level on which a job starts to wait.
  virtual std::uint32_t level_of(const Job& job, const Needs& needs) const = 0;
  /// When the turn of a running job is over; kNever: it may stay.
  virtual Time turn_ends(const Runner& runner) const = 0;
  /// The turn of a running job is over: sets up its next turn.
  virtual void next_turn(Runner& runner) const = 0;
  /// How long a job waits before it is owed devices.
  virtual Duration patience() const { return {}; }

 private:
  void admit(Runner& runner, const Job& job, const Needs& needs) final;
  Rank rank_now(Runner& runner, Time now) final;
  void put_back(const Runner& runner) final;
  Time next_change() const final;
  Time owed_from(const Job& job) const final;
  void first_owed(const std::optional<QueueKey>& first) final;
  void stays_behind(Runner& runner) final { runner.lent = debts_; }
  bool is_lent(const Runner& runner) const { return owed_ && runner.lent == debts_; }
  Rank rank_in_turn(const Runner& runner, Time now) const;

  JobId returned_;                   // the last job that was put back
  bool returned_late_ = false;       // because its turn was over
  std::optional<Rank> returned_to_;  // a place that it had been lent
  std::optional<QueueKey> owed_;     // the first job that is owed devices
  std::uint64_t debts_ = 0;          // which one that is
  Rank first_ = 0;
  Rank starts_ = 0;
};

}  // namespace berth
