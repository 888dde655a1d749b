// JournalRows: hands what a scheduler is told to the journal, and makes one entry of jobs that are
// alike: a million jobs of one array are a few entries. Owned by one thread.
#pragma once

#include <functional>
#include <optional>

#include "core/journal_input.h"

namespace berth {

class JournalRows {
 public:
  using Write = std::function<void(const JournalInput&, Time)>;

  /// None: nothing is written down.
  explicit JournalRows(Write write) : write_(std::move(write)) {}

  bool writes() const { return write_ != nullptr; }
  void add(JournalInput input, Time at);
  /// What waits for more that is alike is written now.
  void flush();

 private:
  Write write_;
  std::optional<JournalInput> row_;  // a Submit or Restored: more of them may follow
  Time row_time_{};
};

}  // namespace berth
