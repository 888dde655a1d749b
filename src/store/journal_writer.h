// JournalWriter: writes the journal of the scheduler's inputs.
#pragma once

#include "store/changes.h"
#include "store/counters.h"
#include "store/sqlite.h"

namespace berth {

class JournalWriter {
 public:
  explicit JournalWriter(Counters& counters) : counters_(counters) {}

  Result<void> prepare(Database& database);

  Result<void> write(const AppendOldInput& change);
  Result<void> write(const AppendInput& change);
  Result<void> write(const ForgetInputs& change);

 private:
  Counters& counters_;
  Statement append_input_;
  Statement forget_inputs_;
};

}  // namespace berth
