// TurnTaking: for policies in which jobs queue up on levels, and running jobs stay in front until
// their turn is over. The order on each level is: running jobs, in order of their start; jobs that
// were put back before their turn was over, the latest first; other waiting jobs, in order of
// arrival; and jobs whose turn is over at this very moment.
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

 private:
  void admit(Runner& runner, const Job& job, const Needs& needs) final;
  Rank rank_now(Runner& runner, Time now) final;
  void put_back(const Runner& runner) final;
  Time next_change() const final;

  JobId returned_;              // the last job that was put back
  bool returned_late_ = false;  // because its turn was over
  Rank first_ = 0;
  Rank starts_ = 0;
};

}  // namespace berth
