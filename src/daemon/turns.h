// Turns: how the daemon keeps its promises. Everything happens in turns of one loop. The scheduler
// and the store are told at once what comes in during a turn. At the end of the turn, all of it is
// written; then jobs are started; then it is synced; then requests are answered. So no process can
// die and take a start with it, and everything that was acknowledged is on disk, whatever crashes.
//
// Long work is done in pieces, some in each turn, so that it holds up no request.
//
// Owned by the loop's thread.
#pragma once

#include <deque>
#include <functional>
#include <string>
#include <vector>

#include "api/http_server.h"
#include "api/loop.h"
#include "daemon/daemon_clock.h"
#include "daemon/daemon_log.h"
#include "daemon/watchdog.h"
#include "store/store.h"

namespace berth {

class Turns {
 public:
  using Reply = std::unique_ptr<Responder>;
  using Effect = std::function<void()>;
  /// Does a piece of long work; false when that was the last.
  using Piece = std::function<bool()>;
  static constexpr Duration kInOneGo = std::chrono::milliseconds(1);

  Turns(Loop& loop, Store& store, const DaemonClock& clock, DaemonLog& log);

  // --- what parts of the daemon ask for

  /// Runs `effect` when all changes of this turn are on disk.
  void after_commit(Effect effect) { effects_.push_back(std::move(effect)); }
  /// Runs `start` when all changes of this turn are written, which outlives every process. A device
  /// waits for it, and the disk works meanwhile.
  void after_write(Effect start) { starts_.push_back(std::move(start)); }
  void answer(Reply reply, HttpResponse response);
  /// Changes that nothing waits for are committed with the next change that something waits for, or
  /// after a short while.
  void commit_soon();
  void commit_now() { commit_due_ = clock_.now(); }

  /// The store refuses a write only if the daemon's idea of the world is wrong: client input was
  /// checked before, and the commit reports what the disk refuses. The daemon ends then. The next
  /// one begins with the truth, and jobs go on meanwhile.
  void check(const Result<void>& stored);

  /// Calls `piece` until it returns false, and serves other requests now and then.
  void in_pieces(Piece piece, Duration in_one_go = kInOneGo);
  /// The same for work that writes: it waits while the disk refuses writes.
  void write_in_pieces(Piece piece, Duration in_one_go = kInOneGo);
  /// The same for work that need not begin in this turn. Otherwise many clients that ask at the
  /// same time would each get their first piece at once.
  void later_in_pieces(Piece piece, Duration in_one_go = kInOneGo);

  /// Whether the changes that a request asks for can be kept; if not, problem() says why. Call it
  /// before doing anything for a request: between requests, everything that the store was told
  /// makes sense as it is, and may be committed.
  bool can_promise();
  /// The disk refuses writes: nothing is decided or promised until it has room.
  bool stuck() const { return stuck_; }
  const std::string& problem() const { return problem_; }

  /// How long turns take. Code that does work in a turn marks it.
  Watchdog& watchdog() { return watchdog_; }

  // --- for the loop

  /// Continues, in this turn, the long work that earlier turns left.
  void resume_long_work();
  /// Commits what is due, and then does what was promised. False when the disk refuses.
  bool finish(Time at);
  /// When the next commit must be, if none is requested before; kNever when nothing waits for it.
  Time due() const { return commit_due_; }

 private:
  using Half = Result<void> (Store::*)();
  /// Whether the disk has taken it.
  bool commit(Half half = &Store::commit);
  void run(std::vector<Effect>& effects);
  void do_long_work();

  Loop& loop_;
  Store& store_;
  const DaemonClock& clock_;
  DaemonLog& log_;
  Watchdog watchdog_;
  std::vector<Effect> starts_;
  std::vector<Effect> effects_;
  std::deque<Effect> long_work_;    // a piece each
  std::deque<Effect> when_stored_;  // work that waits for the disk to have room
  Time commit_due_ = kNever;
  bool stuck_ = false;
  std::string problem_;  // why the disk refuses, in words
};

}  // namespace berth
