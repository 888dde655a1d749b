// JobEraser: deletes jobs, with their details, labels, attempts and tokens.
#pragma once

#include "store/changes.h"
#include "store/counters.h"
#include "store/interner.h"

namespace berth {

class JobEraser {
 public:
  JobEraser(Interner& interner, Counters& counters) : interner_(interner), counters_(counters) {}

  Result<void> prepare(Database& database);

  Result<void> write(const ForgetJobs& change);
  /// Nothing happens where there is no such job. `counted`: the counters know of it; they do not
  /// while it is staged.
  Result<void> erase(JobId job, bool counted);

 private:
  /// The job's labels, and its uses of their contents.
  Result<void> erase_labels(JobId job);

  Interner& interner_;
  Counters& counters_;

  Statement read_shared_;
  Statement read_rest_;
  Statement delete_job_;
  Statement delete_details_;
  Statement delete_label_;
  Statement delete_attempts_;
  Statement delete_token_;
};

}  // namespace berth
