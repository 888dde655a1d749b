// Writer: puts changes into the tables, within a transaction that its caller holds.
#pragma once

#include <optional>

#include "store/changes.h"
#include "store/interner.h"
#include "store/sqlite.h"
#include "store/staged.h"

namespace berth {

/// Numbers that are maintained rather than counted.
struct Counters {
  PhaseCounts by_phase{};
  std::uint64_t next_id = 1;
  std::uint64_t next_entry = 1;  // of the journal
  std::uint64_t redone = 0;      // the newest entry of the redo log that is in the tables
  Staging staging;
};

/// Whether a job with this many bytes of environment can be stored at all.
Result<void> check_texts(const JobDescription& job, std::size_t environment);

class Writer {
 public:
  static Result<Writer> make(Database& database);

  /// NotFound or Refused: the change itself is wrong, and nothing was written. Any other error is
  /// the disk's, and the transaction must be rolled back.
  Result<void> apply(const Change& change);

  /// Writes the counters and the uses of shared contents. Call this before a commit.
  Result<void> flush(const Counters& committed, std::uint64_t redone);
  void rolled_back(const Counters& committed);

  const Counters& counters() const { return counters_; }
  Interner& interner() { return interner_; }

 private:
  explicit Writer(Database& database, Interner interner)
      : database_(&database), interner_(std::move(interner)) {}

  Result<void> prepare_statements();
  Result<void> load_counters();

  Result<void> write(const InsertJobs& change);
  Result<void> write(const RememberToken& change);
  Result<void> write(const SetWaiting& change);
  Result<void> write(const Amend& change);
  Result<void> write(const SetSetting& change);
  Result<void> write(const BeginAttempt& change);
  Result<void> write(const StartAttempt& change);
  Result<void> write(const SetStopping& change);
  Result<void> write(const SetClaim& change);
  Result<void> write(const SetWeight& change);
  Result<void> write(const EndAttempt& change);
  Result<void> write(const EndJob& change);
  Result<void> write(const ForgetJobs& change);
  Result<void> write(const AppendOldInput& change);
  Result<void> write(const AppendInput& change);
  Result<void> write(const ForgetInputs& change);
  Result<void> write(const StageJobs& change);
  Result<void> write(const CompleteStaged& change);
  Result<void> write(const ShowStaged& change);
  Result<void> write(const DropStaged& change);

  Result<JobPhase> phase(JobId job);
  void count_move(JobPhase from, JobPhase to);
  Result<void> forget(JobId job, bool counted);
  Result<void> load_staging();
  Result<Staging::iterator> find_staged(JobId first, std::uint64_t count);
  Result<void> shrink(Staging::iterator staged, std::uint64_t count);
  /// An error when the last statement found no row to change.
  Result<void> must_have_changed(JobId job, std::string_view what) const;

  Database* database_;
  Interner interner_;
  Counters counters_;

  Statement insert_job_;
  Statement insert_details_;
  Statement insert_label_;
  Statement insert_token_;
  Statement read_phase_;
  Statement set_waiting_;
  Statement read_needs_;
  Statement amend_job_;
  Statement amend_command_;
  Statement set_setting_;
  Statement insert_attempt_;
  Statement job_starting_;
  Statement start_attempt_;
  Statement job_running_;
  Statement set_stopping_;
  Statement set_claim_;
  Statement set_weight_;
  Statement end_attempt_;
  Statement end_job_;
  Statement read_shared_;
  Statement read_rest_;
  Statement delete_job_;
  Statement delete_details_;
  Statement delete_label_;
  Statement delete_attempts_;
  Statement delete_token_;
  Statement append_input_;
  Statement forget_inputs_;
  Statement set_counter_;
  Statement set_staged_;
  Statement delete_staged_;
};

}  // namespace berth
