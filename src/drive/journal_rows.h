// JournalRows: passes what a scheduler is told to the journal, and joins jobs that are alike into
// one entry: a million jobs of one array are a few entries. Owned by one thread.
#pragma once

#include <functional>
#include <optional>

#include "core/journal_input.h"

namespace berth {

class JournalRows {
 public:
  using Write = std::function<void(const JournalInput&, Time)>;

  /// Without `write`, nothing is recorded.
  explicit JournalRows(Write write) : write_(std::move(write)) {}

  bool writes() const { return write_ != nullptr; }
  void add(JournalInput input, Time at);
  /// Writes the entry that still waits for more jobs like its own.
  void flush();

 private:
  Write write_;
  std::optional<JournalInput> row_;  // a Submit or Restored: more jobs may follow
  Time row_time_{};
};

}  // namespace berth
