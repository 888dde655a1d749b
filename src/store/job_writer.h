// JobWriter: writes what jobs were submitted with: inserts them, with their tokens, and amends
// them.
#pragma once

#include "store/changes.h"
#include "store/counters.h"
#include "store/interner.h"

namespace berth {

/// Whether a job with this many bytes of environment can be stored at all.
Result<void> check_texts(const JobDescription& job, std::size_t environment);

class JobWriter {
 public:
  JobWriter(Interner& interner, Counters& counters) : interner_(interner), counters_(counters) {}

  Result<void> prepare(Database& database);

  Result<void> write(const InsertJobs& change);
  Result<void> write(const RememberToken& change);
  Result<void> write(const Amend& change);

 private:
  Interner& interner_;
  Counters& counters_;

  Statement insert_job_;
  Statement insert_details_;
  Statement insert_label_;
  Statement insert_token_;
  Statement read_needs_;
  Statement amend_job_;
  Statement amend_command_;
};

}  // namespace berth
