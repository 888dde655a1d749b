// Walks over what has ended, and over the labels: some rows at a time, so that a caller who has
// others to serve can stop anywhere and go on.
#include "store/fields.h"
#include "store/prepare.h"
#include "store/reader.h"
#include "store/rows.h"

namespace berth {

Result<void> Reader::prepare_walks() {
  return prepare_all(
      *database_,
      {// From the index alone: most of what is walked over lies outside of what is wanted.
       {attempt_ends_,
        "SELECT ended, begun, job, attempt FROM attempts INDEXED BY attempts_by_end "
        "WHERE ended IS NOT NULL AND ended >= ?1 AND (ended, begun, job, attempt) < (?2, ?3, ?4, "
        "?5) ORDER BY ended DESC, begun DESC, job DESC, attempt DESC LIMIT ?6"},
       {ended_attempt_,
        "SELECT devices, begun, a.started, outcome, a.ended, a.reason, a.code, a.signal, a.peak, "
        "a.gpu_time, a.energy, a.message, name, project, sweep, user "
        "FROM attempts AS a JOIN jobs ON id = job WHERE job = ?1 AND a.attempt = ?2"},
       {job_ends_,
        "SELECT ended, id, state FROM jobs WHERE ended IS NOT NULL AND ended >= ?1 "
        "AND ended <= ?2 AND (ended < ?2 OR id < ?3) ORDER BY ended DESC, id DESC LIMIT ?4"},
       {labels_,
        "SELECT label, job FROM labels WHERE (label, job) > (?1, ?2) ORDER BY label, job "
        "LIMIT ?3"}});
}

Result<bool> Reader::walk_attempts(AttemptCursor& at, Time ended_from, Time begun_to,
                                   std::size_t most,
                                   const std::function<void(const EndedAttempt&)>& visit) {
  attempt_ends_.start(ended_from.time_since_epoch().count(), at.ended.time_since_epoch().count(),
                      at.begun.time_since_epoch().count(), at.job.value, at.attempt, most);
  for (std::size_t seen = 0;; ++seen) {
    const Result<bool> row = attempt_ends_.step();
    if (!row) {
      return Failure(row.error());
    }
    if (!*row) {
      attempt_ends_.reset();
      return seen == most;
    }
    at.ended = Time(Duration(attempt_ends_.integer(0)));
    at.begun = Time(Duration(attempt_ends_.integer(1)));
    at.job = JobId{static_cast<std::uint64_t>(attempt_ends_.integer(2))};
    at.attempt = static_cast<std::uint16_t>(attempt_ends_.integer(3));
    if (at.begun > begun_to) {
      continue;
    }
    const Result<EndedAttempt> attempt = ended_attempt(at.job, at.attempt);
    if (!attempt) {
      attempt_ends_.reset();
      return Failure(attempt.error());
    }
    visit(*attempt);
  }
}

Result<EndedAttempt> Reader::ended_attempt(JobId job, std::uint16_t attempt) {
  EndedAttempt found;
  ended_attempt_.start(job.value, attempt);
  const Result<bool> row = ended_attempt_.step();
  if (!row) {
    return Failure(row.error());
  }
  std::optional<std::vector<std::string>> devices;
  if (!*row || !(devices = decode_list(ended_attempt_.bytes(0)))) {
    ended_attempt_.reset();
    return damaged_job(static_cast<std::int64_t>(job.value));
  }
  found.attempt.job = job;
  found.attempt.attempt = attempt;
  found.attempt.devices = std::move(*devices);
  found.attempt.begun = Time(Duration(ended_attempt_.integer(1)));
  found.attempt.started = time_or(ended_attempt_, 2, kNever);
  found.attempt.ending =
      read_ending(ended_attempt_, 4, static_cast<Outcome>(ended_attempt_.integer(3)));
  found.name = ended_attempt_.bytes(12);
  found.project = ended_attempt_.integer(13);
  found.sweep = ended_attempt_.integer(14);
  found.user = static_cast<uid_t>(ended_attempt_.integer(15));
  ended_attempt_.reset();
  return found;
}

Result<bool> Reader::walk_ends(EndCursor& at, Time from, std::size_t most,
                               const std::function<void(JobPhase)>& visit) {
  job_ends_.start(from.time_since_epoch().count(), at.ended.time_since_epoch().count(), at.id.value,
                  most);
  for (std::size_t seen = 0;; ++seen) {
    const Result<bool> row = job_ends_.step();
    if (!row) {
      return Failure(row.error());
    }
    if (!*row) {
      job_ends_.reset();
      return seen == most;
    }
    at.ended = Time(Duration(job_ends_.integer(0)));
    at.id = JobId{static_cast<std::uint64_t>(job_ends_.integer(1))};
    if (!valid_phase(job_ends_.integer(2))) {
      return damaged_job(job_ends_.integer(1));
    }
    visit(static_cast<JobPhase>(job_ends_.integer(2)));
  }
}

Result<bool> Reader::walk_labels(LabelCursor& at, std::size_t most,
                                 const std::function<void(std::int64_t label)>& visit) {
  labels_.start(at.label, at.job.value, most);
  for (std::size_t seen = 0;; ++seen) {
    const Result<bool> row = labels_.step();
    if (!row) {
      return Failure(row.error());
    }
    if (!*row) {
      labels_.reset();
      return seen == most;
    }
    at.label = labels_.integer(0);
    at.job = JobId{static_cast<std::uint64_t>(labels_.integer(1))};
    if (!is_staged(*staging_, at.job)) {
      visit(at.label);
    }
  }
}

}  // namespace berth
