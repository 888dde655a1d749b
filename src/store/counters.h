// Counters: numbers that are maintained rather than counted, and how they are kept in the database.
#pragma once

#include <cstdint>

#include "store/sqlite.h"
#include "store/staged.h"

namespace berth {

struct Counters {
  PhaseCounts by_phase{};
  std::uint64_t next_id = 1;
  std::uint64_t next_entry = 1;  // of the journal
  std::uint64_t redone = 0;      // the newest entry of the redo log that is in the tables
  Staging staging;

  /// How many jobs are in this phase.
  std::uint64_t& in(JobPhase phase) { return by_phase[static_cast<std::size_t>(phase)]; }
  /// One job went from a phase to another.
  void move(JobPhase from, JobPhase to) {
    --in(from);
    ++in(to);
  }
};

Result<Counters> read_counters(Database& database);

/// Writes the numbers; the staged jobs are StagedWriter's.
class CounterWriter {
 public:
  Result<void> prepare(Database& database);
  /// Only those that differ from `committed`, which are in the tables.
  Result<void> write(const Counters& now, const Counters& committed);

 private:
  Statement set_counter_;
};

}  // namespace berth
