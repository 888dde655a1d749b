#include "run/run_host.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <utility>

#include "gpu/job_environment.h"

namespace berth {
namespace {

/// What a shell says of a command that it cannot start.
constexpr int kCannotStart = 127;

double wall_seconds() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

}  // namespace

RunHost::RunHost(Parts parts)
    : parts_(parts),
      outputs_(parts_.options.outputs, parts_.poller, parts_.observer),
      notices_(parts_.devices.list(), parts_.observer),
      turns_(parts_.options, parts_.runner) {}

void RunHost::use(Driver& driver, RunJobs& jobs, std::function<void()> job_ended) {
  driver_ = &driver;
  jobs_ = &jobs;
  job_ended_ = std::move(job_ended);
}

Result<void> RunHost::open_files() {
  const RunOptions& options = parts_.options;
  if (options.joblog) {
    Result<Joblog> log = Joblog::open(*options.joblog, options.resume != RunOptions::Resume::No);
    if (!log) {
      return Failure(log.error());
    }
    joblog_ = std::move(*log);
    jobs_->resume(*joblog_);
  }
  return outputs_.prepare();
}

Time RunHost::now() const {
  return Time(
      std::chrono::duration_cast<Duration>(std::chrono::steady_clock::now().time_since_epoch()));
}

void RunHost::watch(int fd, std::string_view, std::function<void()> readable) {
  parts_.poller.add(fd, std::move(readable));
}

AttemptFacts RunHost::begin(const StartJob& start, Time) {
  AttemptFacts facts;
  facts.user = ::getuid();
  facts.recipe = jobs_->recipe(start.job);
  return facts;
}

void RunHost::launch(const StartJob& start, Time at) {
  const RunJob& job = (*jobs_)[start.job];
  Child& child = children_[start.job];
  child = {wall_seconds(), 0};
  Launch launch;
  launch.job = start.job;
  launch.command = job.command;
  launch.environment = driver_->attempts().environment(
      start, job.name(), job.project(), static_cast<std::int64_t>(child.wall_started));
  keep_order(launch, start.devices);
  if (parts_.locks != nullptr) {
    launch.locks = parts_.locks->descriptors(start.devices);
  }
  const JobOutputs::Writers writers = outputs_.open(start.job, job.name());
  launch.stdout_fd = writers.stdout_fd;
  launch.stderr_fd = writers.stderr_fd;
  if (parts_.options.adapt) {
    parts_.options.adapt(launch, start.devices);
  }
  const Result<pid_t> pid = parts_.runner.start(std::move(launch));
  outputs_.release_writers();
  parts_.account.started(start, at - driver_->view().find(start.job)->submitted);
  if (!pid) {
    parts_.observer.warning(fmt::format("job {}: {}", start.job.value, pid.error().message));
    child.start_error = EAGAIN;
    driver_->attempts().over({start.job, kCannotStart, 0, AttemptOver::Kind::NotStarted}, at);
    return;
  }
  driver_->attempts().started(start.job, *pid, parts_.runner.cgroup_of(start.job), at);
  turns_.started(start, at);
  parts_.observer.job_started(event(start.job, *driver_->attempts().find(start.job)));
}

/// The user's CUDA_DEVICE_ORDER stays, or the user is told.
void RunHost::keep_order(Launch& launch, std::span<const DeviceId> devices) {
  const char* order = std::getenv("CUDA_DEVICE_ORDER");
  if (order == nullptr) {
    return;
  }
  std::vector<DeviceInfo> leased;
  for (const DeviceId device : devices) {
    leased.push_back(parts_.devices.list()[device.value]);
  }
  if (!keep_device_order(launch.environment, order, leased) && !std::exchange(told_order_, true)) {
    parts_.observer.warning(other_device_order(order));
  }
}

void RunHost::stop(const StopJob& stop) {
  parts_.runner.stop(stop.job,
                     stop.how == StopJob::How::Ask ? StopSignal::Terminate : StopSignal::Kill);
  turns_.wake(stop.job);
}

void RunHost::take_turns(Time at) {
  turns_.take(at, [this](JobId job, bool stopped) {
    if (const DrivenAttempt* attempt = driver_->attempts().find(job)) {
      parts_.observer.job_stopped(event(job, *attempt), stopped);
    }
  });
}

void RunHost::take_exits() {
  const std::vector<Exit> exits = parts_.runner.take_exits();
  const Time at = now();
  for (const Exit& exit : exits) {
    turns_.ended(exit.job);
    children_.at(exit.job).start_error = exit.start_error;
    AttemptOver over{exit.job, exit.code, exit.signal};
    if (exit.start_error != 0) {
      over.kind = AttemptOver::Kind::NotStarted;
    }
    if (driver_->attempts().asks_for_output(over)) {
      over.output_end = outputs_.tail(exit.job);
    }
    driver_->attempts().over(std::move(over), at);
  }
}

JobEvent RunHost::event(JobId id, const DrivenAttempt& attempt) const {
  const RunJob& job = (*jobs_)[id];
  JobEvent event{id, job.name(),      job.command, attempt.number,
                 {}, attempt.devices, attempt.pid, wall_seconds()};
  for (const DeviceId device : attempt.devices) {
    event.gpus.push_back(driver_->devices().info(device).spec.name);
  }
  return event;
}

void RunHost::requeued(const JobRequeued& requeued, const DrivenAttempt& attempt, Time at) {
  (void)outputs_.finish(requeued.job);
  const auto child = children_.extract(requeued.job);
  const Ended& ended = requeued.attempt;
  parts_.observer.job_ended(event(requeued.job, attempt),
                            {ended.outcome, ended.reason, ended.exit_code, ended.signal,
                             child ? child.mapped().start_error : 0, ended.ended - attempt.begun,
                             driver_->memory().watch().peak(requeued.job), true, attempt.note});
  parts_.account.released(attempt, at);
}

void RunHost::ended(const Job& job, const Ended& ended, const DrivenAttempt* attempt, Time at) {
  JobEndEvent end;
  end.outcome = ended.outcome;
  end.reason = ended.reason;
  end.exit_code = ended.exit_code;
  end.signal = ended.signal;
  if (attempt == nullptr) {
    // It never had a device: something that it follows went wrong.
    ++parts_.account.summary().counts.not_run;
    parts_.observer.job_ended(event(job.id, {}), end);
  } else {
    const auto child = children_.extract(job.id);
    const Child known = child ? child.mapped() : Child{};
    end.start_error = known.start_error;
    end.runtime = ended.ended - attempt->begun;
    end.peak_memory = driver_->memory().watch().peak(job.id);
    end.note = attempt->note;
    parts_.account.ended(job.id, ended.outcome, end.runtime);
    log_end(job.id, known, *attempt, ended, outputs_.finish(job.id));
    parts_.observer.job_ended(event(job.id, *attempt), end);
    parts_.account.released(*attempt, at);
  }
  jobs_->ended(job.id, ended.outcome);
  job_ended_();
}

void RunHost::log_end(JobId id, const Child& child, const DrivenAttempt& attempt,
                      const Ended& ended, std::uint64_t output_bytes) {
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
      joblog_->add({id, child.wall_started, to_seconds(ended.ended - attempt.begun), output_bytes,
                    exit_code, ended.signal, joblog_command((*jobs_)[id].command)});
  if (!added && !std::exchange(parts_.account.summary().log_failed, true)) {
    parts_.observer.warning(added.error().message + "; the run goes on");
  }
}

/// Devices that somebody has closed or opened are told of elsewhere.
void RunHost::device_changed(DeviceId device, DeviceHealth before) {
  const DeviceSlot& slot = driver_->view().devices()[device];
  if (slot.health == DeviceHealth::Lost) {
    parts_.observer.warning(
        fmt::format("GPU {} is lost: nothing more starts on it", slot.spec.name));
  } else if (before == DeviceHealth::Lost) {
    parts_.observer.warning(fmt::format("GPU {} is back", slot.spec.name));
  }
}

void RunHost::reading_taken(const Telemetry::Reading& reading, Time) {
  parts_.account.sampled(reading.samples);
  parts_.observer.sampled(reading.samples);
}

}  // namespace berth
