// Writer: puts changes into the tables, within a transaction that its caller holds. Each kind of
// change has a part that writes it; the parts share the interner and the counters.
#pragma once

#include <memory>

#include "store/changes.h"
#include "store/counters.h"
#include "store/interner.h"
#include "store/job_eraser.h"
#include "store/job_writer.h"
#include "store/journal_writer.h"
#include "store/life_writer.h"
#include "store/staged_writer.h"

namespace berth {

class Writer {
 public:
  static Result<std::unique_ptr<Writer>> make(Database& database);
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  /// NotFound or Refused: the change itself is wrong, and nothing was written. Any other error is
  /// the disk's, and the transaction must be rolled back.
  Result<void> apply(const Change& change);

  /// Writes the counters and the uses of shared contents. Call this before a commit.
  Result<void> flush(const Counters& committed, std::uint64_t redone);
  void rolled_back(const Counters& committed);

  const Counters& counters() const { return counters_; }
  Interner& interner() { return interner_; }

 private:
  struct Apply;

  Writer(Database& database, Interner interner);
  Result<void> prepare(Database& database);

  Interner interner_;
  Counters counters_;

  // Each part refers to members before it.
  JobWriter jobs_;
  LifeWriter life_;
  JobEraser eraser_;
  StagedWriter staged_;
  JournalWriter journal_;
  CounterWriter counter_writer_;
  Statement set_setting_;
};

}  // namespace berth
