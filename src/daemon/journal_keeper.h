// JournalKeeper: keeps the daemon's journal, and the file that it is in, from growing for ever. Now
// and then it has the scheduler write a checkpoint; what is before one is dropped once the journal
// is too long or that part of it too old, and what the database no longer uses is given back to the
// disk. All of it a little at a time, so that no turn of the loop takes long. Owned by the loop's
// thread.
#pragma once

#include <deque>
#include <functional>

#include "drive/told_scheduler.h"
#include "store/store.h"

namespace berth {

class JournalKeeper {
 public:
  struct Limits {
    std::uint64_t bytes = std::uint64_t{2} << 20;  // of the journal, about
    Duration checkpoint = std::chrono::hours(24);  // the longest from one to the next
    Duration age = std::chrono::hours(24 * 7);     // the oldest that is kept
  };
  /// BERTH_JOURNAL_BYTES sets the first, for tests.
  static Limits limits_from_environment();

  /// To be made before the scheduler: what that is told first is the beginning of a new part.
  /// `wrote` is called when something was written that no one waits for.
  static Result<std::unique_ptr<JournalKeeper>> make(Store& store, Limits limits, Time now,
                                                     std::function<void()> wrote);

  /// The next little bit of what there is to do; to be called in each turn, after the scheduler has
  /// decided. True: there is more to do at once. What the disk refuses is tried again later.
  bool go_on(ToldScheduler& scheduler, Time now);

 private:
  JournalKeeper(Store& store, Limits limits, std::function<void()> wrote)
      : store_(store), limits_(limits), wrote_(std::move(wrote)) {}

  std::uint64_t written() const { return store_.journal().appended_bytes() - part_begun_at_; }
  bool is_due(Time now) const;
  bool write_checkpoint(ToldScheduler& scheduler, Time now);
  bool drop_old(Time now);
  bool give_back(Time now);

  Store& store_;
  Limits limits_;
  std::function<void()> wrote_;
  std::deque<JournalPart> parts_;    // the last is being written: its bytes are not counted here
  std::uint64_t part_begun_at_ = 0;  // JournalTable::appended_bytes() when the last part began,
  std::uint64_t preamble_ = 0;       // and how much of it tells only what there is
  std::optional<JournalPart> checkpoint_;  // that is being written
  std::uint64_t checkpoint_begun_at_ = 0;
  std::uint64_t dropped_before_ = 0;  // entries below this are gone
  Time look_{};                       // for unused pages, next
  bool begun_ = false;
};

}  // namespace berth
