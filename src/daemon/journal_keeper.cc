#include "daemon/journal_keeper.h"

#include <algorithm>
#include <cstdlib>

namespace berth {
namespace {

/// Jobs of a checkpoint that are written in a turn, and entries that are dropped: a millisecond.
constexpr std::size_t kWrittenInATurn = 1000;
constexpr std::uint64_t kEntriesAtOnce = 1000;
constexpr Duration kLookAgain = std::chrono::seconds(5);

}  // namespace

JournalKeeper::Limits JournalKeeper::limits_from_environment() {
  Limits limits;
  if (const char* const bytes = std::getenv("BERTH_JOURNAL_BYTES"); bytes != nullptr) {
    limits.bytes = std::strtoull(bytes, nullptr, 10);
  }
  return limits;
}

Result<std::unique_ptr<JournalKeeper>> JournalKeeper::make(Store& store, Limits limits, Time now,
                                                           std::function<void()> wrote) {
  const Result<std::vector<JournalPart>> parts = store.journal().parts();
  if (!parts) {
    return Failure(parts.error());
  }
  std::unique_ptr<JournalKeeper> keeper(new JournalKeeper(store, limits, std::move(wrote)));
  keeper->parts_.assign(parts->begin(), parts->end());
  keeper->parts_.push_back({store.journal().next_entry(), now, 0});
  keeper->part_begun_at_ = store.journal().appended_bytes();
  keeper->dropped_before_ = keeper->parts_.front().first;
  return keeper;
}

bool JournalKeeper::go_on(ToldScheduler& scheduler, Time now) {
  if (!begun_) {
    begun_ = true;
    preamble_ = written();
  }
  // Each in turn: a long one must not hold up the others for ever.
  bool more = (checkpoint_ || is_due(now)) && write_checkpoint(scheduler, now);
  more = drop_old(now) || more;
  return give_back(now) || more;
}

/// A quarter of what may be kept, so that there is always three times as much to be replayed; and
/// no sooner than it is worth the checkpoint, which is long where the queue is.
bool JournalKeeper::is_due(Time now) const {
  const std::uint64_t news = written() - preamble_;
  return news > std::max(limits_.bytes / 4, preamble_) ||
         (news > 0 && now >= add_saturating(parts_.back().begun, limits_.checkpoint));
}

bool JournalKeeper::write_checkpoint(ToldScheduler& scheduler, Time now) {
  const std::uint64_t before = store_.journal().appended_bytes();
  if (!checkpoint_) {
    checkpoint_ = {store_.journal().next_entry(), now, 0};
    checkpoint_begun_at_ = before;
    scheduler.begin_checkpoint(now);
  }
  if (scheduler.continue_checkpoint(kWrittenInATurn, now)) {
    parts_.back().bytes = checkpoint_begun_at_ - part_begun_at_;
    parts_.push_back(*checkpoint_);
    part_begun_at_ = checkpoint_begun_at_;
    preamble_ = written();
    checkpoint_.reset();
    return false;
  }
  // Where nothing was written, the checkpoint waits for the scheduler to be at rest.
  return store_.journal().appended_bytes() > before;
}

bool JournalKeeper::drop_old(Time now) {
  if (parts_.size() < 2) {
    return false;
  }
  std::uint64_t all = written();
  for (const JournalPart& part : parts_) {
    all += part.bytes;
  }
  const std::uint64_t end = parts_[1].first;
  const bool too_old = now >= add_saturating(parts_[1].begun, limits_.age);
  if (all <= limits_.bytes && !too_old && dropped_before_ == parts_.front().first) {
    return false;
  }
  dropped_before_ = std::min(dropped_before_ + kEntriesAtOnce, end);
  if (!store_.journal().forget_before(dropped_before_)) {
    return false;
  }
  wrote_();
  if (dropped_before_ == end) {
    parts_.pop_front();
  }
  return true;
}

bool JournalKeeper::give_back(Time now) {
  if (now < look_) {
    return false;
  }
  const Result<bool> more = store_.give_back();
  if (!more || !*more) {
    look_ = add_saturating(now, kLookAgain);
  }
  return more.value_or(false);
}

}  // namespace berth
