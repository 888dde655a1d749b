// LifeWriter: writes what becomes of jobs that are there: how they wait, what they claim and weigh,
// their attempts and their ends.
#pragma once

#include "store/changes.h"
#include "store/counters.h"
#include "store/sqlite.h"

namespace berth {

class LifeWriter {
 public:
  LifeWriter(Database& database, Counters& counters) : database_(database), counters_(counters) {}

  Result<void> prepare();

  Result<void> write(const SetWaiting& change);
  Result<void> write(const SetClaim& change);
  Result<void> write(const SetWeight& change);
  Result<void> write(const BeginAttempt& change);
  Result<void> write(const StartAttempt& change);
  Result<void> write(const SetStopping& change);
  Result<void> write(const EndAttempt& change);
  Result<void> write(const EndJob& change);

 private:
  Result<JobPhase> phase(JobId job);
  /// An error when the last statement found no row to change.
  Result<void> must_have_changed(JobId job, std::string_view what) const;

  Database& database_;
  Counters& counters_;

  Statement read_phase_;
  Statement set_waiting_;
  Statement set_claim_;
  Statement set_weight_;
  Statement insert_attempt_;
  Statement drop_unstarted_;
  Statement job_starting_;
  Statement start_attempt_;
  Statement job_running_;
  Statement set_stopping_;
  Statement end_attempt_;
  Statement end_job_;
};

}  // namespace berth
