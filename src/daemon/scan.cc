// Looking at many jobs without letting others wait: in pieces of a few milliseconds.
#include "daemon/daemon.h"
#include "daemon/id_window.h"

namespace berth {
namespace {

constexpr std::uint64_t kFirstRange = 500;

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
  in_pieces([this, wanted = std::move(wanted), visit = std::move(visit), done = std::move(done),
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
  });
}

}  // namespace berth
