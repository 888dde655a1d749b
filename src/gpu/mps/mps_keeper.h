// MpsKeeper: keeps one MPS control daemon while jobs use it. The keeper starts it or adopts the one
// that is there, asks until it answers, starts it again when it dies, and has it quit when the last
// job is gone. Nothing here blocks: the supervisor calls look() when something may have happened.
#pragma once

#include <optional>
#include <string>

#include "base/ids.h"
#include "base/user_lookup.h"
#include "gpu/mps/mps_daemon.h"
#include "gpu/mps/mps_jobs.h"

namespace berth {

class MpsKeeper {
 public:
  using Clock = MpsWaits::Clock;

  /// `users` is borrowed.
  MpsKeeper(MpsDaemon daemon, MpsJobs jobs, UserLookup& users);

  MpsJobs& jobs() { return jobs_; }
  const MpsJobs& jobs() const { return jobs_; }
  /// One more job. True: the control daemon answers. False: an event will tell the job.
  bool use(JobId job);
  /// An earlier process may have left a control daemon here.
  void expect_leftover() { unknown_ = true; }

  /// Whatever has happened meanwhile. `news`: something is new in a place.
  void look(bool news);
  /// Begins what is next, if it can be begun now.
  void advance();
  /// When look() has something to do, whatever happens.
  Clock::time_point wake_at() const;

  /// Nobody uses the control daemon, and nothing is left of it.
  bool is_over() const { return removed_ && jobs_.empty() && !daemon_.is_busy(); }
  /// How long a process that ends waits until nothing is left of it.
  Clock::duration quit_patience() const;

 private:
  using Asked = MpsDaemon::Asked;
  enum class State { Down, Starting, Ready, Quitting };
  /// How a control daemon ended under its jobs.
  struct Gone {
    bool was_ready = false;
    std::string why;
  };

  void enter(State state);
  void start();
  void adopt(MpsProcess process);
  void ask(Asked what);
  void tell_failure(const std::string& why);
  bool know_user();
  void advance_down();
  void bury();
  void settle_gone(const Gone& gone);
  void take_answer(const MpsProcess& answer);
  void on_time(Clock::time_point now);

  MpsDaemon daemon_;
  MpsJobs jobs_;
  UserLookup& users_;
  State state_ = State::Down;
  Clock::time_point since_{};  // of the state
  Clock::time_point wake_ = Clock::time_point::max();
  int failures_ = 0;          // to start, or soon after it, in a row
  bool ask_again_ = false;    // something has changed since it was asked
  bool unknown_ = false;      // who is in its place, if anybody
  std::optional<Gone> gone_;  // likewise, because the one that was is not
  bool quit_first_ = false;   // somebody may be in its place of whom we know nothing
  bool removed_ = false;      // its place
};

}  // namespace berth
