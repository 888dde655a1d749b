#include "store/life_writer.h"

#include <fmt/format.h>

#include "store/fields.h"
#include "store/prepare.h"

namespace berth {
namespace {

std::optional<std::int64_t> unless_never(Time time) {
  return time == kNever ? std::nullopt : std::optional(time.time_since_epoch().count());
}

std::optional<std::string_view> unless_empty(std::string_view text) {
  return text.empty() ? std::nullopt : std::optional(text);
}

std::optional<std::int64_t> unless_zero(std::int64_t value) {
  return value == 0 ? std::nullopt : std::optional(value);
}

}  // namespace

Result<void> LifeWriter::prepare() {
  return prepare_all(
      database_,
      {{read_phase_, "SELECT state FROM jobs WHERE id = ?1"},
       {set_waiting_,
        "UPDATE jobs SET state = ?2, not_before = ?3, started = NULL, ended = NULL, reason = NULL, "
        "code = NULL, signal = NULL, peak = NULL, gpu_time = NULL, energy = NULL, message = NULL "
        "WHERE id = ?1"},
       {set_claim_, "UPDATE jobs SET claim = ?2, memory_retries = ?3 WHERE id = ?1"},
       {set_weight_, "UPDATE jobs SET weight = ?3 WHERE id BETWEEN ?1 AND ?2"},
       {insert_attempt_,
        "INSERT INTO attempts(job, attempt, devices, begun, stdout, stderr) "
        "VALUES(?1, ?2, ?3, ?4, ?5, ?6)"},
       {drop_unstarted_,
        "DELETE FROM attempts WHERE job = ?1 AND attempt = ?2 AND started IS NULL AND ended IS NULL"},
       {job_starting_, "UPDATE jobs SET state = ?2, attempt = ?3, started = NULL WHERE id = ?1"},
       {start_attempt_,
        "UPDATE attempts SET pid = ?3, started = ?4 WHERE job = ?1 AND attempt = ?2"},
       {job_running_, "UPDATE jobs SET state = ?2, started = ?3 WHERE id = ?1"},
       {set_stopping_, "UPDATE jobs SET reason = ?2 WHERE id = ?1"},
       {end_attempt_,
        "UPDATE attempts SET outcome = ?3, ended = ?4, reason = ?5, code = ?6, signal = ?7, "
        "peak = ?8, gpu_time = ?9, energy = ?10, message = ?11, peaks = ?12 "
        "WHERE job = ?1 AND attempt = ?2"},
       {end_job_,
        "UPDATE jobs SET state = ?2, ended = ?3, reason = ?4, code = ?5, signal = ?6, peak = ?7, "
        "gpu_time = ?8, energy = ?9, message = ?10 WHERE id = ?1"}});
}

Result<JobPhase> LifeWriter::phase(JobId job) {
  read_phase_.start(job.value);
  const Result<bool> row = read_phase_.step();
  if (!row) {
    return Failure(row.error());
  }
  if (!*row) {
    return fail(ErrorCode::NotFound, fmt::format("there is no job {}", job.value));
  }
  const auto phase = static_cast<JobPhase>(read_phase_.integer(0));
  read_phase_.reset();
  return phase;
}

Result<void> LifeWriter::must_have_changed(JobId job, std::string_view what) const {
  if (database_.changes() == 0) {
    return fail(ErrorCode::NotFound, fmt::format("job {} has no {}", job.value, what));
  }
  return {};
}

Result<void> LifeWriter::write(const SetWaiting& change) {
  const Result<JobPhase> before = phase(change.job);
  if (!before) {
    return Failure(before.error());
  }
  const JobPhase now = change.held ? JobPhase::Held : JobPhase::Queued;
  Result<void> done = set_waiting_.run(change.job.value, static_cast<int>(now),
                                       unless_zero(change.not_before.time_since_epoch().count()));
  if (done) {
    counters_.move(*before, now);
  }
  return done;
}

Result<void> LifeWriter::write(const SetClaim& change) {
  if (Result<void> done =
          set_claim_.run(change.job.value, change.memory.count, change.memory_retries);
      !done) {
    return done;
  }
  return must_have_changed(change.job, "job");
}

Result<void> LifeWriter::write(const SetWeight& change) {
  const std::uint64_t last = change.first.value + change.count - 1;
  if (Result<void> done = set_weight_.run(change.first.value, last, change.weight); !done) {
    return done;
  }
  return must_have_changed(change.first, "job");
}

Result<void> LifeWriter::write(const BeginAttempt& change) {
  const StoredAttempt& attempt = change.attempt;
  const Result<JobPhase> before = phase(attempt.job);
  if (!before) {
    return Failure(before.error());
  }
  const std::string devices = encode_list(attempt.devices);
  const auto insert = [&] {
    return insert_attempt_.run(attempt.job.value, attempt.attempt, Blob{devices},
                               attempt.begun.time_since_epoch().count(),
                               std::string_view(attempt.stdout_path),
                               std::string_view(attempt.stderr_path));
  };
  Result<void> inserted = insert();
  if (!inserted && *before == JobPhase::Queued && inserted.error().code == ErrorCode::Refused) {
    // It was taken back before it started, and begins anew.
    if (Result<void> dropped = drop_unstarted_.run(attempt.job.value, attempt.attempt); !dropped) {
      return dropped;
    }
    inserted = insert();
  }
  if (!inserted) {
    return inserted;
  }
  Result<void> done =
      job_starting_.run(attempt.job.value, static_cast<int>(JobPhase::Starting), attempt.attempt);
  if (done) {
    counters_.move(*before, JobPhase::Starting);
  }
  return done;
}

Result<void> LifeWriter::write(const StartAttempt& change) {
  const Result<JobPhase> before = phase(change.job);
  if (!before) {
    return Failure(before.error());
  }
  const std::optional<std::int64_t> started = unless_never(change.started);
  if (Result<void> done = start_attempt_.run(change.job.value, change.attempt, change.pid, started);
      !done) {
    return done;
  }
  if (Result<void> there = must_have_changed(change.job, "such attempt"); !there) {
    return there;
  }
  Result<void> done =
      job_running_.run(change.job.value, static_cast<int>(JobPhase::Running), started);
  if (done) {
    counters_.move(*before, JobPhase::Running);
  }
  return done;
}

/// A job that has not ended has no reason for it yet, so the column is free to say what is asked.
Result<void> LifeWriter::write(const SetStopping& change) {
  const EndReason why = change.why == Stopping::TimeLimit ? EndReason::TimeLimit
                        : change.why == Stopping::Memory  ? EndReason::Memory
                        : change.why == Stopping::Profile ? EndReason::Profile
                                                          : EndReason::Cancelled;
  if (Result<void> done = set_stopping_.run(change.job.value, static_cast<int>(why)); !done) {
    return done;
  }
  return must_have_changed(change.job, "record");
}

Result<void> LifeWriter::write(const EndAttempt& change) {
  const Ending& end = change.ending;
  const std::string peaks = encode_sizes(end.peaks);
  if (Result<void> done = end_attempt_.run(
          change.job.value, change.attempt, static_cast<int>(end.outcome),
          end.ended.time_since_epoch().count(), static_cast<int>(end.reason), end.exit_code,
          end.signal, unless_zero(end.peak.count), end.gpu_time.count(), end.energy,
          unless_empty(end.message), peaks.empty() ? std::nullopt : std::optional(Blob{peaks}));
      !done) {
    return done;
  }
  return must_have_changed(change.job, "such attempt");
}

Result<void> LifeWriter::write(const EndJob& change) {
  const Result<JobPhase> before = phase(change.job);
  if (!before) {
    return Failure(before.error());
  }
  const Ending& end = change.ending;
  const JobPhase now = phase_of(end.outcome);
  Result<void> done = end_job_.run(
      change.job.value, static_cast<int>(now), end.ended.time_since_epoch().count(),
      static_cast<int>(end.reason), end.exit_code, end.signal, unless_zero(end.peak.count),
      end.gpu_time.count(), end.energy, unless_empty(end.message));
  if (done) {
    counters_.move(*before, now);
  }
  return done;
}

}  // namespace berth
