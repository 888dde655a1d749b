// JournalTable: the journal of the scheduler's inputs in a store. Handed out by Store, which says
// how writes gather and what they report.
#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "store/journal.h"

namespace berth {

class Backing;

class JournalTable {
 public:
  explicit JournalTable(Backing& backing) : backing_(backing) {}

  /// The number of the next entry.
  std::uint64_t next_entry() const;
  Result<void> append(Time time, const JournalInput& input);
  /// Up to `limit` entries from number `from` on; fewer only at the end.
  Result<std::vector<JournalEntry>> entries(std::uint64_t from, std::size_t limit);
  /// All parts of the journal, including a first part that no replay could begin with.
  Result<std::vector<JournalPart>> parts();
  /// About how much disk space the entries appended since Store::open() take.
  std::uint64_t appended_bytes() const { return appended_; }
  /// Call this in steps if there are very many entries: each call deletes all rows that it names.
  Result<void> forget_before(std::uint64_t entry);

 private:
  Backing& backing_;
  std::uint64_t appended_ = 0;  // bytes
};

}  // namespace berth
