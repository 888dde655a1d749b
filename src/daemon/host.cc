// What the driver wants done, by the daemon: attempts are on record before their shims start.
#include <fmt/format.h>
#include <signal.h>

#include <algorithm>

#include "base/failpoint.h"
#include "core/recipe.h"
#include "daemon/daemon.h"
#include "daemon/output_path.h"
#include "daemon/replies.h"
#include "gpu/job_environment.h"

namespace berth {
namespace {

/// A description's environment with the changes made to it.
std::vector<std::string> changed(std::vector<std::string> environment,
                                 const EnvironmentChanges& changes) {
  std::erase_if(environment, [&](const std::string& entry) {
    const std::string_view name = std::string_view(entry).substr(0, entry.find('='));
    return std::any_of(changes.begin(), changes.end(),
                       [&](const auto& change) { return change.first == name; });
  });
  for (const auto& [name, value] : changes) {
    if (value) {
      environment.push_back(name + '=' + *value);
    }
  }
  return environment;
}

}  // namespace

void Daemon::watch(int fd, std::string_view what, std::function<void()> readable) {
  loop_.watch(fd, [this, what, readable = std::move(readable)] {
    const Watchdog::Mark mark = watchdog_.mark(what);
    readable();
  });
}

AttemptFacts Daemon::begin(const StartJob& start, Time at) {
  StoredAttempt stored;
  stored.job = start.job;
  stored.attempt = start.attempt;
  stored.begun = at;
  stored.devices = names_of(start.devices);
  const Result<JobRecord> job = store_->job(start.job);
  if (!job) {
    // The disk or the file is at fault. An attempt must be on record to end.
    check(store_->begin_attempt(std::move(stored)));
    AttemptOver over{start.job};
    over.kind = AttemptOver::Kind::NotStarted;
    over.note = fmt::format("its record cannot be read: {}", job.error().message);
    end_unstarted(start.job, start.attempt, std::move(over));
    AttemptFacts facts;
    facts.can_start = false;
    return facts;
  }
  const JobDescription& description = job->description;
  stored.stdout_path = description.output.empty()
                           ? log_folder_.path_for(description.user, start.job, start.attempt)
                           : output_path(description.output, job->id, description);
  stored.stderr_path = output_path(description.error, job->id, description);
  Attempt& attempt = attempts_[start.job];
  attempt = Attempt{};
  attempt.stdout_path = stored.stdout_path;
  attempt.stderr_path = stored.stderr_path;
  attempt.warning_signal = description.warning_signal;
  attempt.launch = launch_for(start, *job, stored);
  check(store_->begin_attempt(std::move(stored)));
  events_->job_changed(start.job);
  return {recipe_of(description.project, description.command), description.user};
}

ShimLaunch Daemon::launch_for(const StartJob& start, const JobRecord& job,
                              const StoredAttempt& attempt) const {
  const JobDescription& description = job.description;
  ShimLaunch launch;
  launch.job = start.job;
  launch.attempt = start.attempt;
  launch.stdout_path = attempt.stdout_path;
  launch.stderr_path = attempt.stderr_path;
  launch.command = description.command;
  launch.directory = description.directory;
  launch.user = description.user;
  EnvironmentChanges changes =
      driver_->environment(start, description.name, description.project,
                           attempt.begun.time_since_epoch() / Duration(std::chrono::seconds(1)));
  changes.emplace_back("BERTH_RUN", paths_.state);
  changes.emplace_back("BERTH_JOB_ID", std::to_string(start.job.value));
  changes.emplace_back("BERTH_ARRAY_INDEX",
                       description.array_index
                           ? std::optional(std::to_string(*description.array_index))
                           : std::nullopt);
  if (!start.devices.empty()) {
    launch.locks = locks_->paths(start.devices);
  }
  launch.environment = changed(description.environment, changes);
  return launch;
}

/// When it is on disk that the attempt begins.
void Daemon::launch(const StartJob& start, Time) { launches_.push_back(start.job); }

void Daemon::start_shim(JobId job) {
  const auto found = attempts_.find(job);
  if (found == attempts_.end() || !found->second.launch || !await_room(*found->second.launch)) {
    return;
  }
  const ShimLaunch launch = std::move(*found->second.launch);
  found->second.launch.reset();
  (void)BERTH_FAILPOINT("daemon.before_start");
  if (const Result<void> started = runner_->start(launch); !started) {
    log_.write("job {}: {}", job.value, started.error().message);
    AttemptEnd end;
    end.job = job;
    end.attempt = launch.attempt;
    end.kind = AttemptEnd::Kind::NotStarted;
    end.start_error = EAGAIN;
    loop_.post([this, end] { take_end(end, now()); });
  }
  (void)BERTH_FAILPOINT("daemon.after_start");
}

void Daemon::stop(const StopJob& stop) {
  const Job& job = *scheduler().find(stop.job);
  const auto* starting = std::get_if<Starting>(&job.state);
  const auto* running = std::get_if<Running>(&job.state);
  const Stopping why = starting != nullptr  ? starting->stopping
                       : running != nullptr ? running->stopping
                                            : Stopping::No;
  if (why != Stopping::No) {
    check(store_->set_stopping(stop.job, why));
  }
  after_commit([this, stop, attempt = job.attempt] {
    (void)BERTH_FAILPOINT("daemon.before_stop");
    if (awaiting_room_.erase(stop.job) > 0) {
      // No process is there to be told.
      AttemptOver over{stop.job};
      over.signal = SIGTERM;
      end_unstarted(stop.job, attempt, std::move(over));
    }
    runner_->stop(stop.job,
                  stop.how == StopJob::How::Ask ? StopSignal::Terminate : StopSignal::Kill);
    // One that is paused would not hear it.
    runner_->pause(stop.job, false);
  });
}

void Daemon::warn(JobId job) {
  const auto attempt = attempts_.find(job);
  if (attempt != attempts_.end() && attempt->second.warning_signal != 0) {
    after_commit(
        [this, job, signal = attempt->second.warning_signal] { runner_->send(job, signal); });
  }
}

Ending Daemon::ending_of(const Ended& ended, JobId job, const DrivenAttempt* attempt) const {
  Ending ending;
  ending.outcome = ended.outcome;
  ending.reason = ended.reason;
  ending.exit_code = ended.exit_code;
  ending.signal = ended.signal;
  ending.ended = ended.ended;
  if (attempt == nullptr) {
    return ending;
  }
  const MemoryWatch& memory = driver_->memory().watch();
  ending.peak = memory.peak(job);
  if (ending.peak > Bytes{}) {
    ending.peaks = memory.peaks(job, attempt->devices);
  }
  ending.energy = attempt->energy;
  ending.message = attempt->note.empty() ? attempt->warning : attempt->note;
  const auto own = attempts_.find(job);
  const Time seen = own == attempts_.end() ? kNever : own->second.ended;
  if (seen != kNever && seen < ending.ended && seen >= ended.started) {
    ending.ended = seen;  // nobody was there to see it at once
  }
  if (ended.started != kNever) {
    ending.gpu_time = (ending.ended - ended.started) * static_cast<int>(attempt->devices.size());
  }
  return ending;
}

void Daemon::requeued(const JobRequeued& requeued, const DrivenAttempt& attempt, Time) {
  const JobId id = requeued.job;
  check(store_->end_attempt(id, requeued.number, ending_of(requeued.attempt, id, &attempt)));
  check(store_->set_waiting(id, false, requeued.not_before));
  if (requeued.attempt.outcome == Outcome::Oom || requeued.attempt.reason == EndReason::Profile) {
    const Job& job = *scheduler().find(id);
    check(store_->set_claim(id, scheduler().needs(job).memory, job.traits().memory_retries));
  }
  end_usage(id, requeued.number);
  attempts_.erase(id);
  awaiting_room_.erase(id);
  events_->job_changed(id);
  after_commit([this, id, number = requeued.number] {
    runner_->forget(id, number);
    logs_.job_changed(id, true, now());
  });
}

void Daemon::ended(const Job& job, const Ended& ended, const DrivenAttempt* attempt, Time) {
  const bool ran = ended.started != kNever || ended.reason == EndReason::NotStarted;
  const Ending ending = ending_of(ended, job.id, attempt);
  if (ran) {
    check(store_->end_attempt(job.id, job.attempt, ending));
  }
  check(store_->end_job(job.id, ending));
  ++ended_[static_cast<std::size_t>(phase_of(ended.outcome))];
  fair_use_.left(job.id);
  if (attempt != nullptr && ended.outcome == Outcome::Succeeded) {
    history_.learn(attempt->facts.recipe.key, ending.ended - ended.started);
  }
  end_usage(job.id, job.attempt);
  attempts_.erase(job.id);
  awaiting_room_.erase(job.id);
  events_->job_changed(job.id);
  after_commit(
      [this, id = job.id, number = job.attempt, ran, failed = ended.outcome != Outcome::Succeeded] {
        (void)BERTH_FAILPOINT("daemon.before_forget");
        if (ran) {
          runner_->forget(id, number);
        }
        (void)BERTH_FAILPOINT("daemon.after_forget");
        logs_.job_changed(id, true, now());
        waiters_.job_ended(id, failed);
      });
}

// --- what shims tell

void Daemon::take_shim_events() {
  const Time at = now();
  for (const AttemptStart& start : runner_->take_starts()) {
    take_start(start, at);
  }
  for (const AttemptEnd& end : runner_->take_ends()) {
    take_end(end, at);
    (void)BERTH_FAILPOINT("daemon.end_seen");
  }
}

void Daemon::take_start(const AttemptStart& start, Time at) {
  const Job* job = scheduler().find(start.job);
  if (job == nullptr || !std::holds_alternative<Starting>(job->state) ||
      job->attempt != start.attempt) {
    return;
  }
  (void)BERTH_FAILPOINT("daemon.start_seen");
  driver_->started(start.job, start.pid, start.cgroup, at);
  check(store_->start_attempt(start.job, start.attempt, start.pid, at));
  ++started_;
  events_->job_changed(start.job);
  logs_.job_changed(start.job, false, at);
}

void Daemon::take_end(const AttemptEnd& end, Time at) {
  const Job* job = scheduler().find(end.job);
  if (job == nullptr || job->lease() == nullptr || job->attempt != end.attempt) {
    runner_->forget(end.job, end.attempt);  // known already
    return;
  }
  AttemptOver over{end.job, end.code, end.signal};
  switch (end.kind) {
    case AttemptEnd::Kind::Exited:
      break;
    case AttemptEnd::Kind::NotStarted:
      over.kind = AttemptOver::Kind::NotStarted;
      over.note = describe_start_error(end.start_error, end.start_step);
      break;
    case AttemptEnd::Kind::Lost:
      over.kind = AttemptOver::Kind::Lost;
      over.note = "nobody saw how it ended";
  }
  if (driver_->asks_for_output(over) && await_words(end)) {
    return;
  }
  Attempt& attempt = attempts_[end.job];
  attempt.ended = end.ended_at == 0 ? kNever : from_wall(end.ended_at);
  over.output_end = attempt.words.value_or("");
  if (const auto* starting = std::get_if<Starting>(&job->state);
      starting != nullptr && end.kind == AttemptEnd::Kind::Exited) {
    // It started and ended before anybody was told, as while no daemon was there.
    check(store_->start_attempt(end.job, end.attempt, 0, starting->since));
  }
  driver_->over(std::move(over), at);
}

/// In a turn of its own: the present one has been committed.
void Daemon::end_unstarted(JobId job, std::uint16_t attempt, AttemptOver over) {
  loop_.post([this, job, attempt, over = std::move(over)] {
    const Job* known = scheduler().find(job);
    if (known != nullptr && known->lease() != nullptr && known->attempt == attempt) {
      driver_->over(over, now());
    }
  });
}

}  // namespace berth
