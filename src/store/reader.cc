// Single records. Lists are in query.cc, the restart is in restart.cc.
#include "store/reader.h"

#include <fmt/format.h>

#include <algorithm>

#include "store/fields.h"
#include "store/prepare.h"
#include "store/rows.h"

namespace berth {
namespace {

constexpr std::string_view kAttempts =
    "SELECT attempt, devices, begun, started, pid, stdout, stderr, outcome, ended, reason, code, "
    "signal, peak, gpu_time, energy, message, peaks FROM attempts WHERE job = ?1 ";

Failure no_such_job(JobId id) {
  return fail(ErrorCode::NotFound, fmt::format("there is no job {}", id.value));
}

}  // namespace

Result<Reader> Reader::make(Database& database, Interner& interner, const Staging& staging) {
  Reader reader(database, interner, staging);
  const std::string job = fmt::format(
      "SELECT {}, ended, reason, code, signal, peak, gpu_time, energy, message, user, project, "
      "sweep, name, array_index, command, directory, environment, rest "
      "FROM jobs JOIN details ON job = id WHERE id = ?1",
      kSpecColumns);
  const std::string newest = fmt::format("{} ORDER BY attempt DESC LIMIT ?2", kAttempts);
  const std::string one = fmt::format("{} AND attempt = ?2", kAttempts);
  const Result<void> prepared = prepare_all(
      database,
      {{reader.job_, job},
       {reader.phase_, "SELECT state FROM jobs WHERE id = ?1"},
       {reader.attempts_, newest},
       {reader.attempt_, one},
       {reader.setting_, "SELECT value FROM settings WHERE name = ?1"},
       {reader.token_, "SELECT first, count FROM tokens WHERE token = ?1 AND user = ?2"},
       {reader.journal_,
        "SELECT entry, time, input FROM journal WHERE entry >= ?1 ORDER BY entry LIMIT ?2"}});
  if (!prepared) {
    return Failure(prepared.error());
  }
  if (const Result<void> walks = reader.prepare_walks(); !walks) {
    return Failure(walks.error());
  }
  return reader;
}

Result<std::string> Reader::shared(const Statement& row, int column) {
  return row.null(column) ? Result<std::string>("") : interner_->content(row.integer(column));
}

Result<JobPhase> Reader::phase(JobId id) {
  phase_.start(id.value);
  const Result<bool> row = phase_.step();
  if (!row) {
    return Failure(row.error());
  }
  if (!*row || is_staged(*staging_, id)) {
    phase_.reset();
    return no_such_job(id);
  }
  const std::int64_t phase = phase_.integer(0);
  phase_.reset();
  if (!valid_phase(phase)) {
    return damaged_job(static_cast<std::int64_t>(id.value));
  }
  return static_cast<JobPhase>(phase);
}

Result<JobRecord> Reader::job(JobId id, bool with_environment) {
  if (is_staged(*staging_, id)) {
    return no_such_job(id);
  }
  job_.start(id.value);
  const Result<bool> row = job_.step();
  if (!row) {
    return Failure(row.error());
  }
  if (!*row) {
    return no_such_job(id);
  }
  JobRecord record;
  JobDescription& description = record.description;
  constexpr int kEnding = SpecColumn::AfterSpec;
  constexpr int kUser = kEnding + 8;
  if (!valid_phase(job_.integer(SpecColumn::State)) || !read_spec(job_, description.spec) ||
      !decode_rest(job_.bytes(kUser + 8), description)) {
    return damaged_job(job_.integer(SpecColumn::Id));
  }
  record.id = id;
  record.phase = static_cast<JobPhase>(job_.integer(SpecColumn::State));
  record.attempt = static_cast<std::uint16_t>(job_.integer(SpecColumn::Attempt));
  record.submitted = Time(Duration(job_.integer(SpecColumn::Submitted)));
  record.not_before = time_or(job_, SpecColumn::NotBefore, Time{});
  record.started = time_or(job_, SpecColumn::Started, kNever);
  if (!is_live(record.phase)) {
    record.ending = read_ending(job_, kEnding, outcome_of(record.phase));
  }
  description.user = static_cast<uid_t>(job_.integer(kUser));
  description.name = job_.bytes(kUser + 3);
  if (!job_.null(kUser + 4)) {
    description.array_index = static_cast<std::uint32_t>(job_.integer(kUser + 4));
  }
  description.command = job_.bytes(kUser + 5);
  Result<std::string> needs = shared(job_, SpecColumn::NeedsId);
  Result<std::string> project = shared(job_, kUser + 1);
  Result<std::string> sweep = shared(job_, kUser + 2);
  Result<std::string> directory = shared(job_, kUser + 6);
  Result<std::string> environment =
      with_environment ? shared(job_, kUser + 7) : Result<std::string>(std::string(1, '\0'));
  job_.reset();
  for (const Result<std::string>* content : {&needs, &project, &sweep, &directory, &environment}) {
    if (!*content) {
      return Failure(content->error());
    }
  }
  std::optional<Needs> decoded_needs = decode_needs(*needs);
  std::optional<std::vector<std::string>> variables = decode_list(*environment);
  if (!decoded_needs || !variables) {
    return damaged_job(static_cast<std::int64_t>(id.value));
  }
  description.spec.needs = std::move(*decoded_needs);
  description.project = std::move(*project);
  description.sweep = std::move(*sweep);
  description.directory = std::move(*directory);
  description.environment = std::move(*variables);
  return record;
}

Result<std::vector<StoredAttempt>> Reader::attempts(JobId job, std::size_t newest) {
  std::vector<StoredAttempt> all;
  attempts_.start(job.value, static_cast<std::int64_t>(std::min<std::size_t>(newest, INT64_MAX)));
  for (;;) {
    const Result<bool> row = attempts_.step();
    if (!row) {
      return Failure(row.error());
    }
    if (!*row) {
      attempts_.reset();
      std::reverse(all.begin(), all.end());
      return all;
    }
    Result<StoredAttempt> attempt = read_attempt(attempts_, job);
    if (!attempt) {
      attempts_.reset();
      return Failure(attempt.error());
    }
    all.push_back(std::move(*attempt));
  }
}

Result<std::optional<StoredAttempt>> Reader::attempt(JobId job, std::uint16_t number) {
  attempt_.start(job.value, number);
  const Result<bool> row = attempt_.step();
  if (!row) {
    return Failure(row.error());
  }
  if (!*row) {
    attempt_.reset();
    return std::optional<StoredAttempt>();
  }
  Result<StoredAttempt> found = read_attempt(attempt_, job);
  attempt_.reset();
  if (!found) {
    return Failure(found.error());
  }
  return std::optional(std::move(*found));
}

Result<StoredAttempt> Reader::read_attempt(const Statement& row, JobId job) {
  StoredAttempt attempt;
  std::optional<std::vector<std::string>> devices = decode_list(row.bytes(1));
  if (!devices) {
    return damaged_job(static_cast<std::int64_t>(job.value));
  }
  attempt.job = job;
  attempt.attempt = static_cast<std::uint16_t>(row.integer(0));
  attempt.devices = std::move(*devices);
  attempt.begun = Time(Duration(row.integer(2)));
  attempt.started = time_or(row, 3, kNever);
  attempt.pid = static_cast<pid_t>(row.integer(4));
  attempt.stdout_path = row.bytes(5);
  attempt.stderr_path = row.bytes(6);
  if (!row.null(7)) {
    attempt.ending = read_ending(row, 8, static_cast<Outcome>(row.integer(7)));
    attempt.ending->peaks = decode_sizes(row.bytes(16)).value_or(std::vector<Bytes>());
  }
  return attempt;
}

Result<std::optional<Submission>> Reader::find_token(uid_t user, std::string_view token) {
  token_.start(token, user);
  const Result<bool> row = token_.step();
  if (!row) {
    return Failure(row.error());
  }
  std::optional<Submission> found;
  if (*row) {
    found = Submission{JobId{static_cast<std::uint64_t>(token_.integer(0))},
                       static_cast<std::uint32_t>(token_.integer(1))};
  }
  token_.reset();
  return found;
}

Result<std::optional<std::string>> Reader::setting(std::string_view name) {
  setting_.start(name);
  const Result<bool> row = setting_.step();
  if (!row) {
    return Failure(row.error());
  }
  std::optional<std::string> value;
  if (*row) {
    value = setting_.bytes(0);
  }
  setting_.reset();
  return value;
}

}  // namespace berth
