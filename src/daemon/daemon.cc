// The turns of the daemon's loop.
#include "daemon/daemon.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "base/failpoint.h"
#include "core/recipe.h"
#include "daemon/output_path.h"
#include "gpu/job_environment.h"

namespace berth {
namespace {

constexpr Duration kPauseLook = std::chrono::milliseconds(5);  // while a job stops or goes on
constexpr Duration kCommitRetry = std::chrono::seconds(1);

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

Time Daemon::now() const {
  return Time(std::chrono::steady_clock::now().time_since_epoch() + to_wall_);
}

/// Since 1970. BERTH_CLOCK_OFFSET, in seconds, is for tests: a clock that is set without setting
/// one.
Duration Daemon::wall_clock() {
  const char* offset = std::getenv("BERTH_CLOCK_OFFSET");
  return std::chrono::duration_cast<Duration>(std::chrono::system_clock::now().time_since_epoch()) +
         std::chrono::seconds(offset == nullptr ? 0 : std::atoll(offset));
}

/// What others read off the wall clock, on the daemon's own. They differ once the first was set.
Time Daemon::from_wall(std::int64_t nanoseconds) const {
  return now() - (wall_clock() - Duration(nanoseconds));
}

void Daemon::run() {
  watch_signals();
  const auto watch = [this](int fd, std::string_view name, void (Daemon::*take)()) {
    loop_.watch(fd, [this, name, take] {
      const Watchdog::Mark mark = watchdog_.mark(name);
      (this->*take)();
    });
  };
  watch(runner_->event_fd(), "starts and ends of jobs", &Daemon::take_shim_events);
  watch(mps_->event_fd(), "MPS", &Daemon::take_mps_events);
  loop_.watch(logs_.event_fd(), [this] {
    const Watchdog::Mark mark = watchdog_.mark("output of jobs");
    logs_.files_changed();
  });
  loop_.watch(files_->event_fd(), [this] { make_good(files_->take()); });
  loop_.watch(user_files_.event_fd(), [this] {
    const Watchdog::Mark mark = watchdog_.mark("files of users");
    user_files_.take_answers();
  });
  loop_.post([] {});  // a first turn, for what was restored
  for (const StagedJobs& staged : Staging(store_->staging())) {
    loop_.post([this, first = staged.first] { drop_staged(first); });  // half a submission
  }
  log_.write("the daemon {} has started as process {} for user {}{}{}", BERTH_VERSION, ::getpid(),
             ::getuid(), options_.everyone ? ", and for everyone" : "",
             listening_.empty() ? "" : ", and listens on " + listening_);
  loop_.run([this] { turn(); }, [this](Duration took) { end_turn(took); });
  mps_->finish();  // those that jobs use stay, for the next daemon
  log_.write("the daemon has stopped");
}

void Daemon::end_turn(Duration took) {
  if (watchdog_.end_turn(took)) {
    log_.write("a turn took {:.3f} s, and nobody was served meanwhile: {}", to_seconds(took),
               Watchdog::describe(watchdog_.last()));
  }
}

void Daemon::watch_signals() {
  sigset_t mask;
  ::sigemptyset(&mask);
  ::sigaddset(&mask, SIGTERM);
  ::sigaddset(&mask, SIGINT);
  ::sigaddset(&mask, SIGUSR1);
  ::pthread_sigmask(SIG_BLOCK, &mask, nullptr);
  signals_ = Fd(::signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK));
  loop_.watch(signals_.get(), [this] {
    signalfd_siginfo signal{};
    while (::read(signals_.get(), &signal, sizeof signal) == ssize_t{sizeof signal}) {
      if (signal.ssi_signo == SIGUSR1) {
        // From a user whose clients cannot reach it: as if everything had gone.
        make_good({true, true, true});
      } else {
        loop_.stop();
      }
    }
  });
}

void Daemon::turn() {
  const Time at = now();
  whatif_.check(at);
  worker_.check();
  settle_pauses(at);
  settle_room(at);
  if (!next_turn_.empty()) {
    loop_.post([this] { go_on_with_long_work(); });
  }
  if (!commit_failed_) {
    const Watchdog::Mark mark = watchdog_.mark("decide");
    pass_on_claims(at);
    const bool due = told_ || scheduler_->wake_at() <= at;
    // Again while another berth was faster: each refusal rules a device out, so it ends.
    for (bool again = due; again; again = refused_) {
      refused_ = false;
      journal(Stepped{}, at);
      for (const Action& action : scheduler_->step(at)) {
        std::visit([&](const auto& what) { record(what, at); }, action);
      }
      told_ = false;
    }
    mps_->settle();
    release_locks();
  }
  const bool eventful = !effects_.empty() || !launches_.empty();
  if (!eventful && at < commit_due_) {
    settle_waiters();
    events_->flush();
    return set_alarm();
  }
  (void)(eventful && BERTH_FAILPOINT("daemon.before_commit"));
  if (!commit()) {
    // Nothing is started or promised that is not on disk. Everything waits for room.
    loop_.set_alarm(kCommitRetry, [] {});
    return;
  }
  (void)(eventful && BERTH_FAILPOINT("daemon.after_commit"));
  commit_due_ = kNever;
  const Watchdog::Mark mark = watchdog_.mark("start jobs and answer");
  // Devices wait for these; clients and old files for the others.
  for (const ShimLaunch& wanted : std::exchange(launches_, {})) {
    launch(wanted);
  }
  for (const std::function<void()>& effect : std::exchange(effects_, {})) {
    effect();
  }
  settle_waiters();
  for (std::function<void()>& call : std::exchange(when_stored_, {})) {
    loop_.post(std::move(call));
  }
  events_->flush();
  logs_.expire(now());
  set_alarm();
}

bool Daemon::commit() {
  const Watchdog::Mark mark = watchdog_.mark("commit");
  const Result<void> committed = store_->commit();
  commit_failed_ = !committed;
  if (!committed) {
    commit_problem_ = committed.error().message;
    log_.write("{}; trying again", commit_problem_);
  }
  return !commit_failed_;
}

void Daemon::set_alarm() {
  const Time pauses = pausing_.empty() ? kNever : now() + kPauseLook;
  const Time wake = std::min({scheduler_->wake_at(), logs_.next_deadline(), commit_due_,
                              whatif_.deadline(), pauses, room_due_});
  loop_.set_alarm(wake == kNever ? kForever : std::max(Duration{}, wake - now()), [] {});
}

/// What the scheduler is told is written down, so that its decisions can be replayed.
void Daemon::journal(const JournalInput& input, Time at) {
  check(store_->append(at, input));
  commit_due_ = std::min(commit_due_, at + kCommitDelay);
  told_ = true;
  forecast_.outdate();
}

void Daemon::record(const StartJob& action, Time at) {
  if (!take_locks(action, at)) {
    return;
  }
  StoredAttempt attempt;
  attempt.job = action.job;
  attempt.attempt = action.attempt;
  attempt.begun = at;
  for (const DeviceId device : action.devices) {
    attempt.devices.push_back(devices_.list()[device.value].spec.name);
  }
  const Result<JobRecord> job = store_->job(action.job);
  if (!job) {
    // The disk or the file is at fault. An attempt must be on record to end.
    check(store_->begin_attempt(std::move(attempt)));
    return end_unstarted(action.job, action.attempt, {action.job, 0, 0, false},
                         fmt::format("its record cannot be read: {}", job.error().message));
  }
  const JobDescription& description = job->description;
  attempt.stdout_path = description.output.empty()
                            ? log_folder_.path_for(description.user, action.job, action.attempt)
                            : output_path(description.output, job->id, description);
  attempt.stderr_path = output_path(description.error, job->id, description);
  Active& active = active_[action.job];
  active.recipe = recipe_of(description.project, description.command);
  active.user = description.user;
  active.stdout_path = attempt.stdout_path;
  active.stderr_path = attempt.stderr_path;
  active.warning_signal = description.warning_signal;
  active.gpus = static_cast<int>(action.devices.size());
  active.devices = action.devices;
  ShimLaunch wanted = launch_for(action, *job, attempt);
  check(store_->begin_attempt(std::move(attempt)));
  events_->job_changed(action.job);
  launches_.push_back(std::move(wanted));
}

ShimLaunch Daemon::launch_for(const StartJob& action, const JobRecord& job,
                              const StoredAttempt& attempt) const {
  const JobDescription& description = job.description;
  ShimLaunch launch;
  launch.job = action.job;
  launch.attempt = action.attempt;
  launch.stdout_path = attempt.stdout_path;
  launch.stderr_path = attempt.stderr_path;
  launch.command = description.command;
  launch.directory = description.directory;
  launch.user = description.user;
  EnvironmentChanges changes = device_environment(devices_, action.devices);
  // As they are now: a claim may have been learned or have grown since it was submitted.
  if (const Needs& needs = scheduler_->needs(*scheduler_->find(action.job)); needs.mps != 0) {
    add_changes(changes, mps_->environment(devices_.list()[action.devices.front().value], needs));
  }
  changes.emplace_back("BERTH_RUN", paths_.state);
  changes.emplace_back("BERTH_JOB_ID", std::to_string(action.job.value));
  changes.emplace_back("BERTH_ATTEMPT", std::to_string(action.attempt));
  changes.emplace_back("BERTH_NAME", description.name);
  changes.emplace_back("BERTH_PROJECT", description.project);
  changes.emplace_back("BERTH_ARRAY_INDEX",
                       description.array_index
                           ? std::optional(std::to_string(*description.array_index))
                           : std::nullopt);
  const Time end = add_saturating(attempt.begun, description.spec.limit);
  changes.emplace_back(
      "BERTH_END_TIME",
      end == kNever
          ? std::nullopt
          : std::optional(std::to_string(end.time_since_epoch() / std::chrono::seconds(1))));
  if (!action.devices.empty()) {
    launch.locks = locks_->paths(action.devices);
    changes.emplace_back("BERTH_LEASES", locks_->leases(action.devices));
  }
  launch.environment = changed(description.environment, changes);
  return launch;
}

void Daemon::launch(const ShimLaunch& launch) {
  if (!await_room(launch) || !await_mps(launch)) {
    return;
  }
  (void)BERTH_FAILPOINT("daemon.before_start");
  if (const Result<void> started = runner_->start(launch); !started) {
    log_.write("job {}: {}", launch.job.value, started.error().message);
    AttemptEnd end;
    end.job = launch.job;
    end.attempt = launch.attempt;
    end.kind = AttemptEnd::Kind::NotStarted;
    end.start_error = EAGAIN;
    loop_.post([this, end] { take_end(end, now()); });
  }
  (void)BERTH_FAILPOINT("daemon.after_start");
}

void Daemon::record(const StopJob& action, Time) {
  if (const Job* job = scheduler_->find(action.job); job != nullptr) {
    const auto* starting = std::get_if<Starting>(&job->state);
    const auto* running = std::get_if<Running>(&job->state);
    const Stopping why = starting != nullptr  ? starting->stopping
                         : running != nullptr ? running->stopping
                                              : Stopping::No;
    if (why != Stopping::No) {
      check(store_->set_stopping(action.job, why));
    }
  }
  after_commit([this, action] {
    (void)BERTH_FAILPOINT("daemon.before_stop");
    drop_awaiting_room(action.job);
    drop_awaiting_mps(action.job);
    runner_->stop(action.job,
                  action.how == StopJob::How::Ask ? StopSignal::Terminate : StopSignal::Kill);
    // One that is paused would not hear it.
    runner_->pause(action.job, false);
  });
}

void Daemon::record(const WarnJob& action, Time) {
  const auto active = active_.find(action.job);
  if (active != active_.end() && active->second.warning_signal != 0) {
    after_commit([this, job = action.job, signal = active->second.warning_signal] {
      runner_->send(job, signal);
    });
  }
}

Ending Daemon::ending_of(const Ended& ended, JobId job) const {
  Ending ending;
  ending.outcome = ended.outcome;
  ending.reason = ended.reason;
  ending.exit_code = ended.exit_code;
  ending.signal = ended.signal;
  ending.ended = ended.ended;
  if (const auto active = active_.find(job); active != active_.end()) {
    const Active& known = active->second;
    ending.peak = memory_.peak(job);
    if (ending.peak > Bytes{}) {
      ending.peaks = memory_.peaks(job, known.devices);
    }
    ending.energy = known.energy;
    ending.message = known.message.empty() ? known.warning : known.message;
    if (known.ended != kNever && known.ended < ending.ended && known.ended >= ended.started) {
      ending.ended = known.ended;  // nobody was there to see it at once
    }
    if (ended.started != kNever) {
      ending.gpu_time = (ending.ended - ended.started) * known.gpus;
    }
  }
  return ending;
}

void Daemon::record(const JobRequeued& action, Time) {
  check(store_->end_attempt(action.job, action.number, ending_of(action.attempt, action.job)));
  check(store_->set_waiting(action.job, false, action.not_before));
  if (action.attempt.outcome == Outcome::Oom || action.attempt.reason == EndReason::Profile) {
    const Job& job = *scheduler_->find(action.job);
    check(
        store_->set_claim(action.job, scheduler_->needs(job).memory, job.traits().memory_retries));
  }
  end_usage(action.job, action.number);
  memory_.forget(action.job);
  active_.erase(action.job);
  mps_->release(action.job);
  events_->job_changed(action.job);
  after_commit([this, job = action.job, attempt = action.number] {
    runner_->forget(job, attempt);
    logs_.job_changed(job, true, now());
  });
}

void Daemon::record(const JobEnded& action, Time) {
  const Job& job = *scheduler_->find(action.job);
  const Ended& ended = std::get<Ended>(job.state);
  const bool ran = ended.started != kNever || ended.reason == EndReason::NotStarted;
  const Ending ending = ending_of(ended, job.id);
  if (ran) {
    check(store_->end_attempt(job.id, job.attempt, ending));
  }
  check(store_->end_job(job.id, ending));
  ++ended_[static_cast<std::size_t>(phase_of(ended.outcome))];
  fair_use_.left(job.id);
  if (const auto active = active_.find(job.id);
      active != active_.end() && ended.outcome == Outcome::Succeeded) {
    history_.learn(active->second.recipe.key, ending.ended - ended.started);
  }
  end_usage(job.id, job.attempt);
  memory_.forget(job.id);
  active_.erase(job.id);
  mps_->release(job.id);
  events_->job_changed(job.id);
  after_commit([this, id = job.id, attempt = job.attempt, ran,
                failed = ended.outcome != Outcome::Succeeded] {
    (void)BERTH_FAILPOINT("daemon.before_forget");
    if (ran) {
      runner_->forget(id, attempt);
    }
    (void)BERTH_FAILPOINT("daemon.after_forget");
    logs_.job_changed(id, true, now());
    waiters_.job_ended(id, failed);
  });
  scheduler_->forget(action.job);
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
  const Job* job = scheduler_->find(start.job);
  if (job == nullptr || !std::holds_alternative<Starting>(job->state) ||
      job->attempt != start.attempt) {
    return;
  }
  (void)BERTH_FAILPOINT("daemon.start_seen");
  journal(JobStarted{start.job}, at);
  scheduler_->apply(JobStarted{start.job}, at);
  check(store_->start_attempt(start.job, start.attempt, start.pid, at));
  Active& active = active_[start.job];
  active.pid = start.pid;
  active.cgroup = start.cgroup;
  ++started_;
  if (telemetry_ != nullptr && active.gpus > 0) {
    telemetry_->job_started({start.job, active.pid, active.user, active.cgroup});
  }
  events_->job_changed(start.job);
  logs_.job_changed(start.job, false, at);
}

void Daemon::take_end(const AttemptEnd& end, Time at) {
  const Job* job = scheduler_->find(end.job);
  if (job == nullptr || job->lease() == nullptr || job->attempt != end.attempt) {
    runner_->forget(end.job, end.attempt);  // known already
    return;
  }
  if (await_words(*job, end)) {
    return;
  }
  if (telemetry_ != nullptr && complains_of_memory(*job, end, active_[end.job])) {
    complaints_.push_back(end);
    telemetry_->refresh();
    return;
  }
  settle_end(*job, end, at);
}

void Daemon::settle_end(const Job& job, const AttemptEnd& end, Time at) {
  Active& active = active_[end.job];
  active.ended = end.ended_at == 0 ? kNever : from_wall(end.ended_at);
  if (telemetry_ != nullptr && active.gpus > 0) {
    telemetry_->job_ended(end.job);
  }
  if (end.kind == AttemptEnd::Kind::Lost) {
    active.message = "nobody saw how it ended";
    journal(JobLost{end.job}, at);
    scheduler_->apply(JobLost{end.job}, at);
    return;
  }
  if (const auto* starting = std::get_if<Starting>(&job.state);
      starting != nullptr && end.kind == AttemptEnd::Kind::Exited) {
    // It started and ended before anybody was told, as while no daemon was there.
    check(store_->start_attempt(end.job, end.attempt, 0, starting->since));
  }
  if (end.kind == AttemptEnd::Kind::NotStarted) {
    active.message = describe_start_error(end.start_error, end.start_step);
  }
  learn_peak(end, active);
  const JobExited exited{end.job, end.code, end.signal, end.kind == AttemptEnd::Kind::Exited,
                         judge_memory(job, end, active)};
  journal(exited, at);
  scheduler_->apply(exited, at);
}

/// What clients say was checked before, and what the disk refuses commit() tells: the store refuses
/// a write only where this daemon's idea of the world is wrong. The next one begins with the truth,
/// and jobs go on meanwhile.
void Daemon::check(const Result<void>& stored) {
  if (!stored) {
    log_.write(
        "the records contradict what this daemon knows ({}): it ends here, and the next one "
        "takes up its jobs. Please report this",
        stored.error().message);
    std::abort();
  }
}

}  // namespace berth
