// The life of a job in the tables. Inserting and forgetting are in writer_jobs.cc.
#include "store/writer.h"

#include <fmt/format.h>

#include <array>

#include "store/fields.h"
#include "store/journal.h"
#include "store/prepare.h"

namespace berth {
namespace {

constexpr std::string_view kNextId = "next_id";
constexpr std::string_view kNextEntry = "next_entry";
constexpr std::string_view kRedone = "redone";

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

Result<Writer> Writer::make(Database& database) {
  Result<Interner> interner = Interner::make(database);
  if (!interner) {
    return Failure(interner.error());
  }
  Writer writer(database, std::move(*interner));
  if (const Result<void> prepared = writer.prepare_statements(); !prepared) {
    return Failure(prepared.error());
  }
  if (const Result<void> loaded = writer.load_counters(); !loaded) {
    return Failure(loaded.error());
  }
  return writer;
}

Result<void> Writer::prepare_statements() {
  return prepare_all(
      *database_,
      {{insert_job_,
        "INSERT INTO jobs(id, state, user, submitted, attempt, priority, needs, held, expected, "
        "time_limit, begins, not_before, retry, after, warn_before, project, sweep, name, "
        "array_index) "
        "VALUES(?1, ?2, ?3, ?4, 0, ?5, ?6, ?7, ?8, ?9, ?10, ?10, ?11, ?12, ?13, ?14, ?15, ?16, "
        "?17)"},
       {insert_details_, "INSERT INTO details VALUES(?1, ?2, ?3, ?4, ?5)"},
       {insert_label_, "INSERT INTO labels(label, job) VALUES(?1, ?2)"},
       {insert_token_, "INSERT INTO tokens(first, count, user, token) VALUES(?1, ?2, ?3, ?4)"},
       {read_phase_, "SELECT state FROM jobs WHERE id = ?1"},
       {set_waiting_,
        "UPDATE jobs SET state = ?2, not_before = ?3, started = NULL, ended = NULL, reason = NULL, "
        "code = NULL, signal = NULL, peak = NULL, gpu_time = NULL, energy = NULL, message = NULL "
        "WHERE id = ?1"},
       {read_needs_, "SELECT needs FROM jobs WHERE id = ?1"},
       {amend_job_,
        "UPDATE jobs SET priority = ?2, needs = ?3, expected = ?4, time_limit = ?5, begins = ?6, "
        "not_before = ?6, retry = ?7, after = ?8, warn_before = ?9, name = ?10, claim = NULL "
        "WHERE id = ?1"},
       {amend_command_, "UPDATE details SET command = ?2 WHERE job = ?1"},
       {set_setting_, "INSERT OR REPLACE INTO settings(name, value) VALUES(?1, ?2)"},
       {insert_attempt_,
        "INSERT INTO attempts(job, attempt, devices, begun, stdout, stderr) "
        "VALUES(?1, ?2, ?3, ?4, ?5, ?6)"},
       {job_starting_, "UPDATE jobs SET state = ?2, attempt = ?3, started = NULL WHERE id = ?1"},
       {start_attempt_,
        "UPDATE attempts SET pid = ?3, started = ?4 WHERE job = ?1 AND attempt = ?2"},
       {job_running_, "UPDATE jobs SET state = ?2, started = ?3 WHERE id = ?1"},
       {set_stopping_, "UPDATE jobs SET reason = ?2 WHERE id = ?1"},
       {set_claim_, "UPDATE jobs SET claim = ?2, memory_retries = ?3 WHERE id = ?1"},
       {set_weight_, "UPDATE jobs SET weight = ?3 WHERE id BETWEEN ?1 AND ?2"},
       {end_attempt_,
        "UPDATE attempts SET outcome = ?3, ended = ?4, reason = ?5, code = ?6, signal = ?7, "
        "peak = ?8, gpu_time = ?9, energy = ?10, message = ?11, peaks = ?12 "
        "WHERE job = ?1 AND attempt = ?2"},
       {end_job_,
        "UPDATE jobs SET state = ?2, ended = ?3, reason = ?4, code = ?5, signal = ?6, peak = ?7, "
        "gpu_time = ?8, energy = ?9, message = ?10 WHERE id = ?1"},
       {read_shared_,
        "SELECT state, needs, project, sweep, directory, environment "
        "FROM jobs JOIN details ON job = id WHERE id = ?1"},
       {read_rest_, "SELECT rest FROM details WHERE job = ?1 AND rest IS NOT NULL"},
       {delete_job_, "DELETE FROM jobs WHERE id = ?1"},
       {delete_details_, "DELETE FROM details WHERE job = ?1"},
       {delete_label_, "DELETE FROM labels WHERE label = ?1 AND job = ?2"},
       {delete_attempts_, "DELETE FROM attempts WHERE job = ?1"},
       {delete_token_, "DELETE FROM tokens WHERE first = ?1"},
       {append_input_, "INSERT INTO journal(entry, time, input) VALUES(?1, ?2, ?3)"},
       {forget_inputs_, "DELETE FROM journal WHERE entry < ?1"},
       {set_counter_, "INSERT OR REPLACE INTO counters(name, value) VALUES(?1, ?2)"},
       {set_staged_, "INSERT OR REPLACE INTO staged(first, count, complete) VALUES(?1, ?2, ?3)"},
       {delete_staged_, "DELETE FROM staged WHERE first = ?1"}});
}

// --- counters

Result<void> Writer::load_counters() {
  Result<Statement> statement = database_->prepare("SELECT value FROM counters WHERE name = ?1");
  if (!statement) {
    return Failure(statement.error());
  }
  const auto load = [&](std::string_view name, std::uint64_t& counter) -> Result<void> {
    statement->start(name);
    const Result<bool> row = statement->step();
    if (!row) {
      return Failure(row.error());
    }
    if (*row) {
      counter = static_cast<std::uint64_t>(statement->integer(0));
    }
    return {};
  };
  for (std::size_t i = 0; i < kPhases; ++i) {
    if (Result<void> done = load(phase_name(static_cast<JobPhase>(i)), counters_.by_phase[i]);
        !done) {
      return done;
    }
  }
  if (Result<void> done = load(kNextId, counters_.next_id); !done) {
    return done;
  }
  if (Result<void> done = load(kNextEntry, counters_.next_entry); !done) {
    return done;
  }
  if (Result<void> done = load(kRedone, counters_.redone); !done) {
    return done;
  }
  return load_staging();
}

Result<void> Writer::flush(const Counters& committed, std::uint64_t redone) {
  counters_.redone = redone;
  const auto save = [&](std::string_view name, std::uint64_t now, std::uint64_t before) {
    return now == before ? Result<void>{} : set_counter_.run(name, now);
  };
  for (std::size_t i = 0; i < kPhases; ++i) {
    if (Result<void> done = save(phase_name(static_cast<JobPhase>(i)), counters_.by_phase[i],
                                 committed.by_phase[i]);
        !done) {
      return done;
    }
  }
  if (Result<void> done = save(kNextId, counters_.next_id, committed.next_id); !done) {
    return done;
  }
  if (Result<void> done = save(kNextEntry, counters_.next_entry, committed.next_entry); !done) {
    return done;
  }
  if (Result<void> done = save(kRedone, counters_.redone, committed.redone); !done) {
    return done;
  }
  return interner_.flush();
}

void Writer::rolled_back(const Counters& committed) {
  counters_ = committed;
  interner_.forget_changes();
}

void Writer::count_move(JobPhase from, JobPhase to) {
  --counters_.by_phase[static_cast<std::size_t>(from)];
  ++counters_.by_phase[static_cast<std::size_t>(to)];
}

// --- changes

Result<void> Writer::apply(const Change& change) {
  return std::visit([this](const auto& one) { return write(one); }, change);
}

Result<JobPhase> Writer::phase(JobId job) {
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

Result<void> Writer::must_have_changed(JobId job, std::string_view what) const {
  if (database_->changes() == 0) {
    return fail(ErrorCode::NotFound, fmt::format("job {} has no {}", job.value, what));
  }
  return {};
}

Result<void> Writer::write(const RememberToken& change) {
  return insert_token_.run(change.submission.first.value, change.submission.count, change.user,
                           std::string_view(change.token));
}

Result<void> Writer::write(const SetWaiting& change) {
  const Result<JobPhase> before = phase(change.job);
  if (!before) {
    return Failure(before.error());
  }
  const JobPhase now = change.held ? JobPhase::Held : JobPhase::Queued;
  Result<void> done = set_waiting_.run(change.job.value, static_cast<int>(now),
                                       unless_zero(change.not_before.time_since_epoch().count()));
  if (done) {
    count_move(*before, now);
  }
  return done;
}

Result<void> Writer::write(const BeginAttempt& change) {
  const StoredAttempt& attempt = change.attempt;
  const Result<JobPhase> before = phase(attempt.job);
  if (!before) {
    return Failure(before.error());
  }
  const std::string devices = encode_list(attempt.devices);
  if (Result<void> done = insert_attempt_.run(attempt.job.value, attempt.attempt, Blob{devices},
                                              attempt.begun.time_since_epoch().count(),
                                              std::string_view(attempt.stdout_path),
                                              std::string_view(attempt.stderr_path));
      !done) {
    return done;
  }
  Result<void> done =
      job_starting_.run(attempt.job.value, static_cast<int>(JobPhase::Starting), attempt.attempt);
  if (done) {
    count_move(*before, JobPhase::Starting);
  }
  return done;
}

Result<void> Writer::write(const StartAttempt& change) {
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
    count_move(*before, JobPhase::Running);
  }
  return done;
}

Result<void> Writer::write(const SetClaim& change) {
  if (Result<void> done =
          set_claim_.run(change.job.value, change.memory.count, change.memory_retries);
      !done) {
    return done;
  }
  return must_have_changed(change.job, "job");
}

Result<void> Writer::write(const SetWeight& change) {
  const std::uint64_t last = change.first.value + change.count - 1;
  if (Result<void> done = set_weight_.run(change.first.value, last, change.weight); !done) {
    return done;
  }
  return must_have_changed(change.first, "job");
}

/// A job that has not ended has no reason for it yet, so the column is free to say what is asked.
Result<void> Writer::write(const SetStopping& change) {
  const EndReason why = change.why == Stopping::TimeLimit ? EndReason::TimeLimit
                        : change.why == Stopping::Memory  ? EndReason::Memory
                        : change.why == Stopping::Profile ? EndReason::Profile
                                                          : EndReason::Cancelled;
  if (Result<void> done = set_stopping_.run(change.job.value, static_cast<int>(why)); !done) {
    return done;
  }
  return must_have_changed(change.job, "record");
}

Result<void> Writer::write(const EndAttempt& change) {
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

Result<void> Writer::write(const EndJob& change) {
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
    count_move(*before, now);
  }
  return done;
}

Result<void> Writer::write(const AppendOldInput& change) {
  return write(AppendInput{change.time, encode_input(Stepped{})});
}

Result<void> Writer::write(const AppendInput& change) {
  Result<void> done = append_input_.run(counters_.next_entry,
                                        change.time.time_since_epoch().count(), Blob{change.input});
  if (done) {
    ++counters_.next_entry;
  }
  return done;
}

Result<void> Writer::write(const ForgetInputs& change) { return forget_inputs_.run(change.before); }

}  // namespace berth
