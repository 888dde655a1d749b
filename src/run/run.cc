// The loop of a run: what the scheduler says is done, and what happens is told to it.
#include "run/run.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/signalfd.h>

#include <algorithm>
#include <cerrno>

#include "gpu/job_environment.h"

namespace berth {
namespace {

/// What a shell says of a command that it cannot start.
constexpr int kCannotStart = 127;

double wall_seconds() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

}  // namespace

Run::Run(RunOptions options, Devices& devices, DeviceLocks* locks, Runner& runner,
         RunObserver& observer)
    : options_(std::move(options)),
      devices_(devices),
      locks_(locks),
      runner_(runner),
      observer_(observer),
      outputs_(options_.outputs, poller_, observer_),
      meter_(devices.list()) {}

Time Run::now() {
  return Time(
      std::chrono::duration_cast<Duration>(std::chrono::steady_clock::now().time_since_epoch()));
}

void Run::read_input() {
  const Result<bool> more = input_->read_some();
  if (!more) {
    observer_.warning(more.error().message);
  }
  while (auto item = input_->reader().next()) {
    if (!*item) {
      observer_.warning(
          fmt::format("not run: line {} {}", item->error().line, item->error().message));
      ++summary_.counts.invalid;
    } else if (const Result<void> done = submit(std::move(**item)); !done) {
      observer_.warning("not run: " + done.error().message);
      ++summary_.counts.invalid;
    }
  }
  if (!more || !*more) {
    poller_.remove(input_->fd());
    input_.reset();
  }
}

bool Run::finished() const {
  return scheduler_->running().empty() && (level_ > 0 || (!input_ && scheduler_->waiting() == 0));
}

void Run::loop() {
  for (;;) {
    Time at = now();
    act(at);
    if (finished()) {
      return;
    }
    Duration timeout = kForever;
    if (const Time wake = scheduler_->wake_at(); wake != kNever) {
      timeout = std::max(Duration{}, wake - at);
    }
    if (const Duration interval = observer_.interval(); interval != kForever) {
      if (at - last_redraw_ >= interval) {
        last_redraw_ = at;
        observer_.progress(progress(at));
      }
      timeout = std::min(timeout, interval - (at - last_redraw_));
    }
    poller_.wait(timeout);
  }
}

void Run::act(Time at) {
  do {
    refused_ = false;
    for (const JobId job : std::exchange(failed_starts_, {})) {
      scheduler_->apply(JobExited{job, kCannotStart, 0, false}, at);
    }
    if (options_.halt.when != Halt::When::Never && level_ == 0) {
      // What has ended may be the reason to start nothing more: it is counted first.
      scheduler_->apply(Pause{});
      take_actions(at);
      if (level_ == 0) {
        scheduler_->apply(Resume{});
      }
    }
    pass_on_claims();
    take_actions(at);
  } while (!failed_starts_.empty() || refused_ || learner_.behind());
  // Only now: a device that went from one job to the next was never free.
  if (mps_ != nullptr) {
    mps_->settle();
  }
  release_locks();
  tell_of_waiting(at);
}

void Run::take_actions(Time at) {
  for (const Action& action : scheduler_->step(at)) {
    if (const auto* job = std::get_if<StartJob>(&action)) {
      start(*job, at);
    } else if (const auto* stop = std::get_if<StopJob>(&action)) {
      runner_.stop(stop->job,
                   stop->how == StopJob::How::Ask ? StopSignal::Terminate : StopSignal::Kill);
    } else if (const auto* requeued = std::get_if<JobRequeued>(&action)) {
      requeue(*requeued, at);
    } else {
      end(std::get<JobEnded>(action), at);
    }
  }
}

Launch Run::make_launch(const StartJob& action, const Record& record) const {
  Launch launch;
  launch.job = action.job;
  launch.command = record.command;
  launch.environment = device_environment(devices_, action.devices);
  if (const Needs& needs = scheduler_->needs(*scheduler_->find(action.job)); needs.mps != 0) {
    add_changes(launch.environment,
                mps_->environment(devices_.list()[action.devices.front().value], needs));
  }
  launch.environment.emplace_back("BERTH_ATTEMPT", std::to_string(action.attempt));
  launch.environment.emplace_back("BERTH_NAME", std::string(record.name()));
  launch.environment.emplace_back("BERTH_PROJECT", std::string(record.project()));
  const Duration limit = scheduler_->find(action.job)->limit;
  launch.environment.emplace_back(
      "BERTH_END_TIME",
      limit == kForever ? std::nullopt
                        : std::optional(fmt::format("{:.0f}", wall_seconds() + to_seconds(limit))));
  if (locks_ != nullptr) {
    launch.locks = locks_->descriptors(action.devices);
    launch.environment.emplace_back("BERTH_LEASES", locks_->leases(action.devices));
  }
  return launch;
}

void Run::start(const StartJob& action, Time at) {
  if (!take_locks(action, at)) {
    return;
  }
  Result<void> ready;
  if (!await_mps(action, ready)) {
    return;
  }
  const Record& record = *records_.find(action.job);
  Launch launch = make_launch(action, record);
  const JobOutputs::Writers writers = outputs_.open(action.job, record.name());
  launch.stdout_fd = writers.stdout_fd;
  launch.stderr_fd = writers.stderr_fd;
  if (options_.adapt) {
    options_.adapt(launch, action.devices);
  }
  const Result<pid_t> pid = ready ? runner_.start(std::move(launch)) : Failure(ready.error());
  outputs_.release_writers();
  if (action.attempt == 1) {
    const Duration wait = at - scheduler_->find(action.job)->submitted;
    ++summary_.started;
    summary_.total_wait += wait;
    summary_.longest_wait = std::max(summary_.longest_wait, wait);
  } else {
    ++summary_.retries;
  }
  Active& active = active_[action.job.value];
  active = {action.attempt, pid.value_or(0), action.devices, at, wall_seconds(), 0, ""};
  if (!pid) {
    observer_.warning(fmt::format("job {}: {}", action.job.value, pid.error().message));
    active.start_error = EAGAIN;
    failed_starts_.push_back(action.job);
    return;
  }
  if (telemetry_ != nullptr) {
    telemetry_->job_started({action.job, *pid, ::getuid(), runner_.cgroup_of(action.job)});
  }
  scheduler_->apply(JobStarted{action.job}, at);
  observer_.job_started(event(action.job, record, active));
}

void Run::take_exits() {
  const std::vector<Exit> exits = runner_.take_exits();
  const Time at = now();
  for (const Exit& exit : exits) {
    if (telemetry_ != nullptr && complains_of_memory(exit)) {
      complaints_.push_back(exit);
      telemetry_->refresh();
    } else {
      take_exit(exit, at);
    }
  }
}

void Run::take_exit(const Exit& exit, Time at) {
  active_.at(exit.job.value).start_error = exit.start_error;
  learn_peak(exit);
  scheduler_->apply(
      JobExited{exit.job, exit.code, exit.signal, exit.start_error == 0, judge_memory(exit)}, at);
}

JobEvent Run::event(JobId id, const Record& record, const Active& active) const {
  JobEvent event{id, record.name(), record.command, active.attempt, {}, active.pid, wall_seconds()};
  for (const DeviceId device : active.devices) {
    event.gpus.push_back(devices_.list()[device.value].spec.name);
  }
  return event;
}

JobEndEvent Run::end_event(JobId id, const Ended& ended, const Active& active, bool retried) const {
  return {ended.outcome,      ended.reason,
          ended.exit_code,    ended.signal,
          active.start_error, ended.ended - active.started,
          memory_.peak(id),   retried,
          active.note};
}

/// An attempt no longer runs: books what it used.
void Run::release(JobId id, Time at) {
  const Active& active = active_.at(id.value);
  for (const DeviceId device : active.devices) {
    meter_.add_job(device, at - active.started);
  }
  if (telemetry_ != nullptr) {
    telemetry_->job_ended(id);
  }
  memory_.forget(id);
  if (mps_ != nullptr) {
    mps_->release(id);
  }
  active_.erase(id.value);
}

void Run::requeue(const JobRequeued& action, Time at) {
  (void)outputs_.finish(action.job);
  const Active& active = active_.at(action.job.value);
  observer_.job_ended(event(action.job, *records_.find(action.job), active),
                      end_event(action.job, action.attempt, active, true));
  release(action.job, at);
}

void Run::log_end(JobId id, const Record& record, const Active& active, const Ended& ended,
                  std::uint64_t output_bytes) {
  // One that the user had ended has not come to its end: like GNU parallel's, the log leaves it to
  // the next run.
  if (!joblog_ || ended.outcome == Outcome::Cancelled) {
    return;
  }
  constexpr int kTimedOut = -1;  // whatever it said when it was asked to end
  const int exit_code = ended.outcome == Outcome::TimedOut ? kTimedOut
                        : ended.signal != 0                ? 0
                                                           : ended.exit_code;
  const Result<void> added =
      joblog_->add({id, active.wall_started, to_seconds(ended.ended - active.started), output_bytes,
                    exit_code, ended.signal, joblog_command(record.command)});
  if (!added && !std::exchange(summary_.log_failed, true)) {
    observer_.warning(added.error().message + "; the run goes on");
  }
}

void Run::end(const JobEnded& action, Time at) {
  const JobId id = action.job;
  const Ended ended = std::get<Ended>(scheduler_->find(id)->state);
  const Record& record = *records_.find(id);
  if (const auto found = active_.find(id.value); found == active_.end()) {
    end_without_start(id, record, ended);
  } else {
    const Active& active = found->second;
    const std::uint64_t output_bytes = outputs_.finish(id);
    const JobEndEvent result = end_event(id, ended, active, false);
    count(ended.outcome);
    summary_.total_runtime += result.runtime;
    summary_.longest_runtime = std::max(summary_.longest_runtime, result.runtime);
    log_end(id, record, active, ended, output_bytes);
    observer_.job_ended(event(id, record, active), result);
    release(id, at);
  }
  outcomes_[id.value] = ended.outcome;
  records_.erase(id);
  scheduler_->forget(id);
  check_halt();
}

/// It never had a device: something that it follows went wrong.
void Run::end_without_start(JobId id, const Record& record, const Ended& ended) {
  ++summary_.counts.not_run;
  Active none;
  none.started = ended.ended;
  observer_.job_ended(event(id, record, none), end_event(id, ended, none, false));
}

void Run::count(Outcome outcome) {
  RunCounts& counts = summary_.counts;
  switch (outcome) {
    case Outcome::Succeeded:
      ++counts.succeeded;
      break;
    case Outcome::TimedOut:
      ++counts.timed_out;
      break;
    case Outcome::Cancelled:
      ++counts.cancelled;
      break;
    case Outcome::Failed:
    case Outcome::Oom:
    case Outcome::Lost:
      ++counts.failed;
  }
}

void Run::check_halt() {
  const RunCounts& counts = summary_.counts;
  if (summary_.halted ||
      !options_.halt.reached(counts.succeeded, counts.failed + counts.timed_out)) {
    return;
  }
  summary_.halted = true;
  observer_.warning(fmt::format("--halt: {} failed, {} succeeded: starting nothing more{}",
                                counts.failed + counts.timed_out, counts.succeeded,
                                options_.halt.when == Halt::When::Now ? ", ending what runs" : ""));
  stop_level(options_.halt.when == Halt::When::Now ? 2 : 1);
}

void Run::take_signals() {
  signalfd_siginfo signal{};
  while (::read(signals_.get(), &signal, sizeof signal) == sizeof signal) {
    summary_.interrupted = true;
    // When the terminal is gone nobody can ask twice.
    const int level = signal.ssi_signo == SIGHUP ? std::max(2, level_ + 1) : level_ + 1;
    stop_level(std::min(level, 3));
    if (const std::size_t running = scheduler_->running().size(); running > 0) {
      observer_.interrupted(level_, running);
    }
  }
}

void Run::stop_level(int level) {
  if (level >= 1 && level_ < 1) {
    scheduler_->apply(Pause{});
    if (input_) {
      poller_.remove(input_->fd());
      input_.reset();
    }
    drop_awaiting_mps(now());
  }
  const bool ask = level >= 2 && level_ < 2;
  const bool force = level >= 3;
  level_ = std::max(level_, level);
  if (!ask && !force) {
    return;
  }
  for (const auto& [id, active] : active_) {
    // Asking a second time means force. One that a time limit has asked already is forced, too.
    if (ask) {
      (void)scheduler_->apply(Cancel{JobId{id}}, now()).has_value();
    }
    if (force) {
      (void)scheduler_->apply(Cancel{JobId{id}}, now()).has_value();
    }
  }
}

}  // namespace berth
