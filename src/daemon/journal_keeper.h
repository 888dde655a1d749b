// JournalKeeper: keeps the daemon's journal, and the file that holds it, from growing forever. From
// time to time it has the scheduler write a checkpoint. The part before a checkpoint is dropped
// once the journal is too long or that part is too old. Pages that the database no longer uses are
// given back to the disk. All of this is done a little at a time, so that no turn of the loop takes
// long. Owned by the loop's thread.
#pragma once

#include <deque>
#include <functional>

#include "drive/told_scheduler.h"
#include "store/store.h"

namespace berth {

class JournalKeeper {
 public:
  struct Limits {
    std::uint64_t bytes = std::uint64_t{2} << 20;  // of the journal, approximately
    Duration checkpoint = std::chrono::hours(24);  // the longest time from one to the next
    Duration age = std::chrono::hours(24 * 7);     // of the oldest entries that are kept
  };
  /// BERTH_JOURNAL_BYTES sets `bytes`, for tests.
  static Limits limits_from_environment();

  /// Make it before the scheduler, because the scheduler's first input begins a new part. `wrote`
  /// is called after a write that nothing waits for.
  static Result<std::unique_ptr<JournalKeeper>> make(Store& store, Limits limits, Time now,
                                                     std::function<void()> wrote);

  /// Does the next small piece of work. Call it in each turn, after the scheduler has decided. True
  /// when there is more to do at once. Writes that the disk refuses are tried again later.
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
  std::uint64_t part_begun_at_ = 0;  // JournalTable::appended_bytes() when the last part began
  std::uint64_t preamble_ = 0;       // bytes of that part that only record its initial state
  std::optional<JournalPart> checkpoint_;  // the one being written
  std::uint64_t checkpoint_begun_at_ = 0;
  std::uint64_t dropped_before_ = 0;  // entries below this are gone
  Time look_{};                       // when to look for unused pages next
  bool begun_ = false;
};

}  // namespace berth
