// Looking at many jobs without letting others wait: in pieces of a few milliseconds.
#include "daemon/daemon.h"
#include "daemon/id_window.h"

namespace berth {
namespace {

constexpr std::uint64_t kFirstRange = 500;
/// Of a turn, for all long work together: so many who ask for much hold nobody up either.
constexpr Duration kLongWorkShare = std::chrono::milliseconds(10);

}  // namespace

/// Calls `piece` until it returns false, and serves others now and then.
void Daemon::in_pieces(std::function<bool()> piece, Duration in_one_go) {
  const Time end = now() + in_one_go;
  while (piece()) {
    if (now() >= end) {
      next_turn_.push_back([this, piece = std::move(piece), in_one_go]() mutable {
        in_pieces(std::move(piece), in_one_go);
      });
      return;
    }
  }
}

/// One piece of each in turn, as far as the time of this turn goes.
void Daemon::go_on_with_long_work() {
  const Watchdog::Mark mark = watchdog_.mark("long lists, in pieces");
  const Time end = now() + kLongWorkShare;
  for (std::size_t left = next_turn_.size(); left > 0 && now() < end; --left) {
    const std::function<void()> call = std::move(next_turn_.front());
    next_turn_.pop_front();
    call();
  }
}

void Daemon::write_in_pieces(std::function<bool()> piece, Duration in_one_go) {
  const Time end = now() + in_one_go;
  do {
    if (commit_failed_ || now() >= end) {
      (commit_failed_ ? when_stored_ : next_turn_)
          .push_back([this, piece = std::move(piece), in_one_go]() mutable {
            write_in_pieces(std::move(piece), in_one_go);
          });
      return;
    }
  } while (piece());
}

/// `done` is told how it went. A job that changes meanwhile is seen as it was or as it is.
void Daemon::scan_jobs(JobScan wanted, std::function<void(const ScannedJob&)> visit,
                       std::function<void(const Result<void>&)> done) {
  const IdRange all{JobId{1}, JobId{store_->next_id().value - 1}};
  IdWindow window(all, wanted.descending, kFirstRange);
  auto piece = [this, wanted = std::move(wanted), visit = std::move(visit), done = std::move(done),
                window]() mutable {
    if (wanted.abandoned && wanted.abandoned()) {
      return false;
    }
    if (window.over()) {
      done({});
      return false;
    }
    const Time begun = now();
    std::optional<JobId> last;
    const Result<void> read = store_->scan(
        {wanted.filter, window.next(), wanted.descending, wanted.commands, window.patience()},
        [&](const ScannedJob& job) {
          last = job.id;
          visit(job);
        });
    if (read) {
      window.looked(now() - begun);
      return true;
    }
    if (read.error().code != ErrorCode::Timeout) {
      done(read);
      return false;
    }
    if (last) {
      window.looked_until(*last);
    }
    window.narrow();
    return true;
  };
  // Not at once: many who ask for a scan at the same time would each get their first piece now.
  next_turn_.push_back([this, piece = std::move(piece)]() mutable { in_pieces(std::move(piece)); });
}

}  // namespace berth
