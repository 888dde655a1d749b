// Looking at many jobs without letting others wait: in pieces of a few milliseconds.
#include "daemon/daemon.h"

namespace berth {
namespace {

constexpr Duration kInOneGo = std::chrono::milliseconds(1);
/// A range of numbers may hold that many jobs or none: it grows and shrinks with what it takes.
constexpr std::uint64_t kFirstRange = 500;
constexpr std::uint64_t kWidestRange = 1'000'000;
constexpr Duration kShort = std::chrono::microseconds(200);
constexpr Duration kLong = std::chrono::microseconds(500);

}  // namespace

/// Calls `piece` until it returns false, and serves others now and then.
void Daemon::in_pieces(std::function<bool()> piece) {
  const Time end = now() + kInOneGo;
  while (piece()) {
    if (now() >= end) {
      next_turn_.push_back(
          [this, piece = std::move(piece)]() mutable { in_pieces(std::move(piece)); });
      return;
    }
  }
}

/// `done` is told how it went. A job that changes meanwhile is seen as it was or as it is.
void Daemon::scan_jobs(JobScan wanted, std::function<void(const ScannedJob&)> visit,
                       std::function<void(const Result<void>&)> done) {
  const std::uint64_t last = store_->next_id().value - 1;
  in_pieces([this, wanted = std::move(wanted), visit = std::move(visit), done = std::move(done),
             left = IdRange{JobId{1}, JobId{last}}, width = kFirstRange]() mutable {
    if (left.last < left.first) {
      done({});
      return false;
    }
    const Time begun = now();
    IdRange range = left;
    if (wanted.descending) {
      range.first.value =
          std::max(left.first.value, left.last.value - std::min(left.last.value, width) + 1);
      left.last.value = range.first.value - 1;
    } else {
      range.last.value = std::min(left.last.value, left.first.value + width - 1);
      left.first.value = range.last.value + 1;
    }
    const Result<void> read =
        store_->scan({wanted.filter, range, wanted.descending, wanted.commands}, visit);
    if (!read) {
      done(read);
      return false;
    }
    const Duration took = now() - begun;
    if (took < kShort) {
      width = std::min(width * 2, kWidestRange);
    } else if (took > kLong) {
      width = std::max<std::uint64_t>(1, width / 2);
    }
    return true;
  });
}

}  // namespace berth
