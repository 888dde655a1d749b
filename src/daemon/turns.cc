#include "daemon/turns.h"

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <utility>

#include "base/failpoint.h"

namespace berth {
namespace {

constexpr Duration kCommitDelay = std::chrono::milliseconds(100);
/// Of a turn, for all long work together: so many who ask for much hold nobody up either.
constexpr Duration kLongWorkShare = std::chrono::milliseconds(10);

}  // namespace

Turns::Turns(Loop& loop, Store& store, const DaemonClock& clock, DaemonLog& log)
    : loop_(loop), store_(store), clock_(clock), log_(log), watchdog_([&clock] {
        return clock.now();
      }) {}

void Turns::answer(Reply reply, HttpResponse response) {
  if (store_.out_of_reach()) {
    return reply->respond(std::move(response));  // only reads come this far; see can_promise()
  }
  // Shared, because a std::function must be copyable.
  after_commit(
      [held = std::make_shared<Reply>(std::move(reply)), response = std::move(response)]() mutable {
        (*held)->respond(std::move(response));
      });
}

void Turns::commit_soon() { commit_due_ = std::min(commit_due_, clock_.now() + kCommitDelay); }

void Turns::check(const Result<void>& stored) {
  if (!stored) {
    log_.write(
        "the records contradict what this daemon knows ({}): it ends here, and the next one "
        "takes up its jobs. Please report this",
        stored.error().message);
    std::abort();
  }
}

void Turns::in_pieces(Piece piece, Duration in_one_go) {
  const Time end = clock_.now() + in_one_go;
  while (piece()) {
    if (clock_.now() >= end) {
      return later_in_pieces(std::move(piece), in_one_go);
    }
  }
}

void Turns::later_in_pieces(Piece piece, Duration in_one_go) {
  long_work_.push_back([this, piece = std::move(piece), in_one_go]() mutable {
    in_pieces(std::move(piece), in_one_go);
  });
}

void Turns::write_in_pieces(Piece piece, Duration in_one_go) {
  const Time end = clock_.now() + in_one_go;
  do {
    if (stuck_ || clock_.now() >= end) {
      (stuck_ ? when_stored_ : long_work_)
          .push_back([this, piece = std::move(piece), in_one_go]() mutable {
            write_in_pieces(std::move(piece), in_one_go);
          });
      return;
    }
  } while (piece());
}

bool Turns::can_promise() {
  if (!store_.out_of_reach() && store_.misses_files()) {
    store_.suspect_files();
    commit();
  }
  return !store_.out_of_reach();
}

void Turns::resume_long_work() {
  if (!long_work_.empty()) {
    loop_.post([this] { do_long_work(); });
  }
}

/// One piece of each in turn, as far as the time of this turn goes.
void Turns::do_long_work() {
  const Watchdog::Mark mark = watchdog_.mark("long lists, in pieces");
  const Time end = clock_.now() + kLongWorkShare;
  for (std::size_t left = long_work_.size(); left > 0 && clock_.now() < end; --left) {
    const Effect work = std::move(long_work_.front());
    long_work_.pop_front();
    work();
  }
}

bool Turns::commit(Half half) {
  const Watchdog::Mark mark = watchdog_.mark("commit");
  const Result<void> done = (store_.*half)();
  stuck_ = !done;
  if (stuck_) {
    problem_ = done.error().message;
    log_.write("{}; trying again", problem_);
  }
  return !stuck_;
}

void Turns::run(std::vector<Effect>& effects) {
  const Watchdog::Mark mark = watchdog_.mark("start jobs and answer");
  for (const Effect& effect : std::exchange(effects, {})) {
    effect();
  }
}

bool Turns::finish(Time at) {
  const bool eventful = !effects_.empty() || !starts_.empty();
  if (!eventful && at < commit_due_) {
    return true;
  }
  (void)(eventful && BERTH_FAILPOINT("daemon.before_commit"));
  if (!commit(&Store::write)) {
    return false;
  }
  (void)(eventful && BERTH_FAILPOINT("daemon.after_write"));
  run(starts_);
  if (!commit(&Store::sync)) {
    return false;
  }
  (void)(eventful && BERTH_FAILPOINT("daemon.after_commit"));
  commit_due_ = kNever;
  run(effects_);
  for (Effect& call : std::exchange(when_stored_, {})) {
    loop_.post(std::move(call));
  }
  return true;
}

}  // namespace berth
