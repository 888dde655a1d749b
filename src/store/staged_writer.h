// StagedWriter: writes which jobs are staged (see staged.h), in the table and in the counters.
#pragma once

#include "store/changes.h"
#include "store/counters.h"
#include "store/job_eraser.h"

namespace berth {

class StagedWriter {
 public:
  /// `eraser` deletes jobs that are dropped.
  StagedWriter(JobEraser& eraser, Counters& counters) : eraser_(eraser), counters_(counters) {}

  Result<void> prepare(Database& database);

  Result<void> write(const StageJobs& change);
  Result<void> write(const CompleteStaged& change);
  Result<void> write(const ShowStaged& change);
  Result<void> write(const DropStaged& change);

 private:
  Result<Staging::iterator> find(JobId first, std::uint64_t count);
  /// The first `count` of them are staged no more.
  Result<void> shrink(Staging::iterator staged, std::uint64_t count);

  JobEraser& eraser_;
  Counters& counters_;
  Statement set_staged_;
  Statement delete_staged_;
};

}  // namespace berth
