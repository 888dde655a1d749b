// Turns: how the daemon keeps its promises. Everything happens in turns of one loop. What comes in
// during a turn is told to the scheduler and the store at once; at the end of the turn one commit
// makes all of it durable; only then are jobs started and requests answered. So what was
// acknowledged is on disk, whatever dies.
//
// Long work is done in pieces, some in each turn, so that nobody is held up by it.
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
  /// A piece of long work; false when that was the last.
  using Piece = std::function<bool()>;
  static constexpr Duration kInOneGo = std::chrono::milliseconds(1);

  Turns(Loop& loop, Store& store, const DaemonClock& clock, DaemonLog& log);

  // --- what parts of the daemon ask for

  /// Done when everything that this turn brought is on disk.
  void after_commit(Effect effect) { effects_.push_back(std::move(effect)); }
  /// The same, before all others: a device waits for it.
  void start_after_commit(Effect start) { starts_.push_back(std::move(start)); }
  void answer(Reply reply, HttpResponse response);
  /// What nobody waits for is put on disk with the next thing that somebody waits for, or after a
  /// short while.
  void commit_soon();
  void commit_now() { commit_due_ = clock_.now(); }

  /// The store refuses a write only where the daemon's idea of the world is wrong: what clients say
  /// was checked before, and what the disk refuses the commit tells. The daemon ends then. The next
  /// one begins with the truth, and jobs go on meanwhile.
  void check(const Result<void>& stored);

  /// Calls `piece` until it returns false, and serves others now and then.
  void in_pieces(Piece piece, Duration in_one_go = kInOneGo);
  /// The same for work that writes: it waits while the disk refuses.
  void write_in_pieces(Piece piece, Duration in_one_go = kInOneGo);
  /// The same for work that need not begin in this turn: many who ask for it at the same time would
  /// each get their first piece at once.
  void later_in_pieces(Piece piece, Duration in_one_go = kInOneGo);

  /// Whether what a request asks for can be kept; where not, problem() says why. To be asked before
  /// anything is done about a request: between requests all that was told to the store makes sense
  /// as it is, and may be committed.
  bool can_promise();
  /// The disk refuses: nothing is decided or promised until it has room.
  bool stuck() const { return stuck_; }
  const std::string& problem() const { return problem_; }

  /// How long turns take. Who does work in one marks it.
  Watchdog& watchdog() { return watchdog_; }

  // --- for the loop

  /// Has the work that was left to this turn done in it.
  void resume_long_work();
  /// Commits what is due, and does what was promised for then. False when the disk refuses.
  bool finish(Time at);
  /// When the next commit must be, if nobody asks for one before; kNever: nothing waits for it.
  Time due() const { return commit_due_; }

 private:
  bool commit();
  void do_long_work();

  Loop& loop_;
  Store& store_;
  const DaemonClock& clock_;
  DaemonLog& log_;
  Watchdog watchdog_;
  std::vector<Effect> starts_;
  std::vector<Effect> effects_;
  std::deque<Effect> long_work_;    // a piece each
  std::deque<Effect> when_stored_;  // what waits for the disk to have room
  Time commit_due_ = kNever;
  bool stuck_ = false;
  std::string problem_;  // why, in words
};

}  // namespace berth
