#include "run/run_jobs.h"

#include <fmt/format.h>
#include <unistd.h>

#include <utility>

namespace berth {
namespace {

RunJob make_job(JobLine line) {
  RunJob job{std::move(line.command), nullptr};
  job.command.shrink_to_fit();
  if (line.options.name || line.options.project) {
    job.labels = std::make_unique<RunJob::Labels>(
        RunJob::Labels{line.options.name.value_or(""), line.options.project.value_or("")});
  }
  return job;
}

// Whose jobs these are. Asked for once: a million jobs may come, and each question is a system
// call.
uid_t real_user() {
  static const uid_t user = ::getuid();
  return user;
}
uid_t effective_user() {
  static const uid_t user = ::geteuid();
  return user;
}

/// The error names the line, if the job stands on one.
Failure wrong(const JobLine& line, const Error& error) {
  return line.line == 0 ? Failure(error)
                        : fail(error.code, fmt::format("line {}: {}", line.line, error.message));
}

}  // namespace

RunJobs::RunJobs(const RunOptions& options, Driver& driver) : options_(options), driver_(driver) {
  outcomes_.resize(1);  // numbers begin with 1
}

/// `never` is set when a job that it follows has ended the wrong way already.
Result<void> RunJobs::add_dependencies(JobSpec& spec, const JobLine& line, bool& never) const {
  for (const AfterName& after : line.options.after) {
    const Result<std::size_t> place = earlier_.find(after);
    if (!place) {
      return Failure(place.error());
    }
    const JobId other{*place + 1};
    if (driver_.view().find(other) != nullptr) {
      spec.after.push_back({other, after.when});
    } else {
      never = never || !satisfied(after.when, outcomes_[other.value]);
    }
  }
  return {};
}

Result<JobSpec> RunJobs::specify(const JobLine& line, bool& never) {
  JobSpec spec = options_.defaults;
  line.options.apply(spec);
  spec.needs.settle();
  spec.owner = owners_.of(line.options.project.value_or(""), 0);
  if (const Result<void> settled = driver_.mps().settle(spec.needs, effective_user()); !settled) {
    return Failure(settled.error());
  }
  if (const Result<void> added = add_dependencies(spec, line, never); !added) {
    return Failure(added.error());
  }
  return spec;
}

/// Whether the joblog says that this job need not run again.
Result<bool> RunJobs::done_before(JobId id, const JobLine& line) const {
  if (joblog_ == nullptr) {
    return false;
  }
  const auto past = joblog_->past().find(id);
  if (past == joblog_->past().end()) {
    return false;
  }
  if (past->second.command != joblog_command(line.command)) {
    return fail(ErrorCode::Usage,
                fmt::format("job {} is not the one in the joblog {}: there it is `{}`, here `{}`",
                            id.value, *options_.joblog, past->second.command, line.command));
  }
  return options_.resume == RunOptions::Resume::Unfinished || past->second.succeeded();
}

/// The job has the next number from here on.
void RunJobs::number(const JobLine& line, Outcome outcome) {
  ++last_id_;
  outcomes_.push_back(outcome);
  earlier_.add(line.options.name);
}

Result<RunJobs::Taken> RunJobs::add(JobLine line, Time at) {
  const JobId id{last_id_ + 1};
  const Result<bool> done = done_before(id, line);
  if (!done) {
    return Failure(done.error());
  }
  if (*done) {
    number(line, joblog_->past().at(id).succeeded() ? Outcome::Succeeded : Outcome::Failed);
    return Taken::Skipped;
  }
  bool never = false;
  Result<JobSpec> spec = specify(line, never);
  if (!spec) {
    return wrong(line, spec.error());
  }
  const Recipe recipe = options_.recipe(line.options.project.value_or(""), line.command);
  if (driver_.memory().learns()) {
    driver_.memory().claim(spec->needs, recipe);
  }
  const bool learned = driver_.lengths().estimate(*spec, recipe, real_user());
  if (never) {
    // Its number and its account are those that it would have had, had it come in time.
    number(line, Outcome::Cancelled);
    jobs_.insert(id, make_job(std::move(line)));
    return Taken::Never;
  }
  const Result<JobId> submitted = driver_.scheduler().tell(Submit{std::move(*spec), id}, at);
  if (!submitted) {
    return wrong(line, submitted.error());
  }
  number(line, Outcome::Lost);
  jobs_.insert(id, make_job(std::move(line)));
  if (driver_.memory().learns()) {
    driver_.memory().jobs_wait(id, 1, recipe);
  }
  if (learned) {
    driver_.lengths().jobs_wait(id, 1, recipe, real_user());
  }
  return Taken::Queued;
}

Recipe RunJobs::recipe(JobId id) const {
  const RunJob& job = (*this)[id];
  return options_.recipe(job.project(), job.command);
}

void RunJobs::ended(JobId id, Outcome outcome) {
  outcomes_[id.value] = outcome;
  jobs_.erase(id);
}

}  // namespace berth
