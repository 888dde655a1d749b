#include "daemon/daemon.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include "base/failpoint.h"
#include "gpu/job_environment.h"
#include "policy/policies.h"

namespace berth {
namespace {

constexpr Duration kCommitRetry = std::chrono::seconds(1);

Duration since_epoch(auto clock_now) {
  return std::chrono::duration_cast<Duration>(clock_now.time_since_epoch());
}

Ending ending_of(const Ended& ended) {
  Ending ending;
  ending.outcome = ended.outcome;
  ending.reason = ended.reason;
  ending.exit_code = ended.exit_code;
  ending.signal = ended.signal;
  ending.ended = ended.ended;
  return ending;
}

/// When an attempt ended that nobody was there to see, as far as its shim wrote it down.
Time end_time(const AttemptEnd& end, Time now) {
  return end.ended_at == 0 ? now : std::min(now, Time(Duration(end.ended_at)));
}

/// A description's environment with the changes made to it.
std::vector<std::string> changed(const std::vector<std::string>& base,
                                 const EnvironmentChanges& changes) {
  std::vector<std::string> environment;
  for (const std::string& entry : base) {
    const std::string_view name = std::string_view(entry).substr(0, entry.find('='));
    if (std::none_of(changes.begin(), changes.end(),
                     [&](const auto& change) { return change.first == name; })) {
      environment.push_back(entry);
    }
  }
  for (const auto& [name, value] : changes) {
    if (value) {
      environment.push_back(fmt::format("{}={}", name, *value));
    }
  }
  return environment;
}

}  // namespace

Time Daemon::now() const { return Time(since_epoch(std::chrono::steady_clock::now()) + to_wall_); }

// --- opening

Result<std::unique_ptr<Daemon>> Daemon::make(const DaemonOptions& options) {
  std::unique_ptr<Daemon> daemon(new Daemon);
  if (const Result<void> opened = daemon->open(options); !opened) {
    return Failure(opened.error());
  }
  return daemon;
}

Result<void> Daemon::open(const DaemonOptions& options) {
  to_wall_ =
      since_epoch(std::chrono::system_clock::now()) - since_epoch(std::chrono::steady_clock::now());
  Result<Paths> paths = find_paths();
  if (!paths) {
    return Failure(paths.error());
  }
  paths_ = *paths;
  for (const std::string& folder :
       {paths_.state, paths_.runtime, paths_.state + "/jobs", paths_.state + "/logs"}) {
    if (Result<void> made = make_folder(folder); !made) {
      return made;
    }
  }
  Result<Fd> lock = take_daemon_lock(paths_.state);
  if (!lock) {
    return Failure(lock.error());
  }
  lock_ = std::move(*lock);
  // The launcher is forked while this process is small and has one thread.
  ShimRunner::Options running;
  if (const char* boot_id = std::getenv("BERTH_BOOT_ID"); boot_id != nullptr) {
    running.boot_id_path = boot_id;  // for tests of what a reboot does
  }
  Result<std::unique_ptr<ShimRunner>> runner = ShimRunner::make(paths_.state + "/jobs", running);
  if (!runner) {
    return Failure(runner.error());
  }
  runner_ = std::move(*runner);
  Result<std::unique_ptr<Store>> store = Store::open(paths_.state + "/berth.db");
  if (!store) {
    return Failure(store.error());
  }
  store_ = std::move(*store);
  Result<std::unique_ptr<Devices>> devices = open_devices(options.gpus);
  if (!devices) {
    return Failure(devices.error());
  }
  devices_ = std::move(*devices);
  Result<std::unique_ptr<Policy>> policy = make_policy(options.policy);
  if (!policy) {
    return Failure(policy.error());
  }
  Scheduler::Config config;
  config.limits.cpu_slots = std::max(1U, std::thread::hardware_concurrency());
  scheduler_ = std::make_unique<Scheduler>(std::move(*policy), config);
  for (const DeviceInfo& device : devices_->list()) {
    scheduler_->add_device(device.spec);
  }
  if (Result<void> restored = restore(); !restored) {
    return restored;
  }
  server_ = std::make_unique<HttpServer>(loop_, [this](HttpRequest request, Reply reply) {
    handle(std::move(request), std::move(reply));
  });
  return server_->listen_unix(paths_.socket(), false);
}

/// Takes up what the daemon before has left: queued jobs as they were, running ones on the devices
/// that they have. Nothing here may depend on how far a daemon came that died in the middle of it.
Result<void> Daemon::restore() {
  const Time at = now();
  std::map<JobId, AttemptStart> running;
  for (const AttemptStart& start : runner_->adopt()) {
    running.emplace(start.job, start);
  }
  std::map<JobId, AttemptEnd> ended;
  for (const AttemptEnd& end : runner_->take_ends()) {
    ended.emplace(end.job, end);
  }
  (void)BERTH_FAILPOINT("daemon.restore_adopted");
  std::vector<StartJob> to_start;            // devices were written down, but no shim ever was
  std::vector<LiveJob> without_devices;      // the same, and the devices are no longer there
  std::vector<AttemptStart> started_unseen;  // their start was not on disk yet
  const Result<void> read = store_->for_each_live([&](const LiveJob& job) {
    Restore command{job.id, job.spec, job.submitted, job.attempt, std::nullopt};
    command.spec.held = job.phase == JobPhase::Held;
    command.spec.begin = std::max(command.spec.begin, job.not_before);
    const auto known = [&](const auto& attempts) {
      const auto found = attempts.find(job.id);
      return found != attempts.end() && found->second.attempt == job.attempt;
    };
    if (job.phase == JobPhase::Starting || job.phase == JobPhase::Running) {
      const bool runs = known(running);
      const bool is_over = known(ended);
      Running state;
      state.since = job.started == kNever ? at : job.started;
      if (is_over) {
        state.since = std::min(state.since, end_time(ended.at(job.id), at));
      }
      state.devices = find_devices(job.devices);
      state.stopping = job.stopping;
      if (!runs && !is_over && state.devices.size() != job.devices.size()) {
        without_devices.push_back(job);
      } else if (!runs && !is_over) {
        to_start.push_back({job.id, job.attempt, state.devices});
        command.starting = true;
      } else if (job.phase == JobPhase::Starting && runs) {
        started_unseen.push_back(running.at(job.id));
      } else if (job.phase == JobPhase::Starting &&
                 ended.at(job.id).kind != AttemptEnd::Kind::NotStarted) {
        started_unseen.push_back({job.id, job.attempt, 0});  // nor was its end
      }
      if (runs || is_over || command.starting) {
        command.running = std::move(state);
      }
    }
    scheduler_->apply(command, at);
  });
  if (!read) {
    return fail(read.error().code,
                fmt::format("cannot take up the queue in {}/berth.db ({}); berth leaves it as it "
                            "is: move it away to begin with an empty queue, or put a backup in its "
                            "place",
                            paths_.state, read.error().message));
  }
  for (const LiveJob& job : without_devices) {
    Ending ending;
    ending.outcome = Outcome::Lost;
    ending.reason = EndReason::NotStarted;
    ending.ended = at;
    ending.message = "the daemon ended before it was started, and its devices are gone";
    check(store_->end_attempt(job.id, job.attempt, ending));
    check(store_->set_waiting(job.id, false, Time{}));
  }
  for (const AttemptStart& start : started_unseen) {
    const auto end = ended.find(start.job);
    const Time started = end == ended.end() ? at : end_time(end->second, at);
    check(store_->start_attempt(start.job, start.attempt, start.pid, started));
  }
  for (const StartJob& start : to_start) {
    start_after_commit(launch_for(start));
  }
  for (const auto& [job, end] : ended) {
    take_end(end, end_time(end, at));
  }
  (void)BERTH_FAILPOINT("daemon.restore_before_commit");
  Result<void> committed = store_->commit();
  (void)BERTH_FAILPOINT("daemon.restored");
  return committed;
}

/// Those of the named devices that this daemon has.
std::vector<DeviceId> Daemon::find_devices(const std::vector<std::string>& names) const {
  std::vector<DeviceId> found;
  for (std::uint32_t i = 0; i < devices_->list().size(); ++i) {
    if (std::count(names.begin(), names.end(), devices_->list()[i].spec.name) != 0) {
      found.push_back(DeviceId{i});
    }
  }
  return found;
}

// --- turns

void Daemon::run() {
  watch_signals();
  loop_.watch(runner_->event_fd(), [this] { take_shim_events(); });
  loop_.post([] {});  // a first turn, for what was restored
  loop_.run([this] { turn(); });
}

void Daemon::watch_signals() {
  sigset_t mask;
  ::sigemptyset(&mask);
  ::sigaddset(&mask, SIGTERM);
  ::sigaddset(&mask, SIGINT);
  ::pthread_sigmask(SIG_BLOCK, &mask, nullptr);
  signals_ = Fd(::signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK));
  loop_.watch(signals_.get(), [this] { loop_.stop(); });
}

void Daemon::turn() {
  const Time at = now();
  if (!commit_failed_) {
    for (const Action& action : scheduler_->step(at)) {
      std::visit([&](const auto& what) { record(what, at); }, action);
    }
  }
  const bool eventful = !effects_.empty();
  (void)(eventful && BERTH_FAILPOINT("daemon.before_commit"));
  const Result<void> committed = store_->commit();
  commit_failed_ = !committed;
  if (!committed) {
    // Nothing is started or promised that is not on disk. Everything waits for room.
    std::fprintf(stderr, "berth daemon: %s; trying again\n", committed.error().message.c_str());
    loop_.set_alarm(kCommitRetry, [] {});
    return;
  }
  (void)(eventful && BERTH_FAILPOINT("daemon.after_commit"));
  for (const std::function<void()>& effect : std::exchange(effects_, {})) {
    effect();
  }
  const Time wake = scheduler_->wake_at();
  loop_.set_alarm(wake == kNever ? kForever : std::max(Duration{}, wake - now()), [] {});
}

/// All that the shim must know, from what is on record of the job.
ShimLaunch Daemon::launch_for(const StartJob& what) {
  ShimLaunch launch;
  launch.job = what.job;
  launch.attempt = what.attempt;
  launch.stdout_path = fmt::format("{}/logs/{}.{}.log", paths_.state, what.job.value, what.attempt);
  const Result<JobRecord> job = store_->job(what.job);
  if (!job) {
    return launch;
  }
  if (!job->description.output.empty()) {
    launch.stdout_path = expand_path(job->description.output, *job);
    launch.stderr_path = expand_path(job->description.error, *job);
  }
  launch.command = job->description.command;
  launch.directory = job->description.directory;
  launch.user = job->description.user;
  EnvironmentChanges changes = device_environment(*devices_, what.devices);
  changes.emplace_back("BERTH_JOB_ID", std::to_string(what.job.value));
  changes.emplace_back("BERTH_ATTEMPT", std::to_string(what.attempt));
  changes.emplace_back("BERTH_NAME", job->description.name);
  changes.emplace_back("BERTH_PROJECT", job->description.project);
  launch.environment = changed(job->description.environment, changes);
  return launch;
}

void Daemon::record(const StartJob& action, Time at) {
  ShimLaunch launch = launch_for(action);
  StoredAttempt attempt;
  attempt.job = action.job;
  attempt.attempt = action.attempt;
  attempt.begun = at;
  attempt.stdout_path = launch.stdout_path;
  attempt.stderr_path = launch.stderr_path;
  for (const DeviceId device : action.devices) {
    attempt.devices.push_back(devices_->list()[device.value].spec.name);
  }
  check(store_->begin_attempt(std::move(attempt)));
  start_after_commit(std::move(launch));
}

void Daemon::start_after_commit(ShimLaunch launch) {
  after_commit([this, launch = std::move(launch)] {
    (void)BERTH_FAILPOINT("daemon.before_start");
    const Result<void> started = runner_->start(launch);
    (void)BERTH_FAILPOINT("daemon.after_start");
    if (!started) {
      std::fprintf(stderr, "berth daemon: job %llu: %s\n",
                   static_cast<unsigned long long>(launch.job.value),
                   started.error().message.c_str());
      AttemptEnd end;
      end.job = launch.job;
      end.attempt = launch.attempt;
      end.kind = AttemptEnd::Kind::NotStarted;
      end.start_error = EAGAIN;
      loop_.post([this, end] { take_end(end, now()); });
    }
  });
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
    runner_->stop(action.job,
                  action.how == StopJob::How::Ask ? StopSignal::Terminate : StopSignal::Kill);
  });
}

void Daemon::record(const JobRequeued& action, Time) {
  check(store_->end_attempt(action.job, action.number, ending_of(action.attempt)));
  check(store_->set_waiting(action.job, false, action.not_before));
  after_commit(
      [this, job = action.job, attempt = action.number] { runner_->forget(job, attempt); });
}

void Daemon::record(const JobEnded& action, Time) {
  const Job& job = *scheduler_->find(action.job);
  const Ended& ended = std::get<Ended>(job.state);
  const bool ran = ended.started != kNever || ended.reason == EndReason::NotStarted;
  if (ran) {
    check(store_->end_attempt(job.id, job.attempt, ending_of(ended)));
  }
  check(store_->end_job(job.id, ending_of(ended)));
  after_commit([this, id = job.id, attempt = job.attempt, ran,
                failed = ended.outcome != Outcome::Succeeded] {
    (void)BERTH_FAILPOINT("daemon.before_forget");
    if (ran) {
      runner_->forget(id, attempt);
    }
    (void)BERTH_FAILPOINT("daemon.after_forget");
    settle_waiters(id, failed);
  });
  scheduler_->forget(action.job);
}

void Daemon::take_shim_events() {
  const Time at = now();
  for (const AttemptStart& start : runner_->take_starts()) {
    const Job* job = scheduler_->find(start.job);
    if (job != nullptr && std::holds_alternative<Starting>(job->state) &&
        job->attempt == start.attempt) {
      (void)BERTH_FAILPOINT("daemon.start_seen");
      scheduler_->apply(JobStarted{start.job}, at);
      check(store_->start_attempt(start.job, start.attempt, start.pid, at));
    }
  }
  for (const AttemptEnd& end : runner_->take_ends()) {
    take_end(end, at);
    (void)BERTH_FAILPOINT("daemon.end_seen");
  }
}

void Daemon::take_end(const AttemptEnd& end, Time at) {
  const Job* job = scheduler_->find(end.job);
  if (job == nullptr || job->lease() == nullptr || job->attempt != end.attempt) {
    runner_->forget(end.job, end.attempt);  // known already
    return;
  }
  if (end.kind == AttemptEnd::Kind::Lost) {
    scheduler_->apply(JobLost{end.job}, at);
  } else {
    scheduler_->apply(
        JobExited{end.job, end.code, end.signal, end.kind == AttemptEnd::Kind::Exited}, at);
  }
}

/// The store refuses only what makes no sense, and then this daemon's idea of the world is wrong.
void Daemon::check(const Result<void>& stored) {
  if (!stored) {
    std::fprintf(stderr, "berth daemon: %s\n", stored.error().message.c_str());
    std::abort();
  }
}

int run_daemon(const DaemonOptions& options, int ready_fd) {
  ::signal(SIGPIPE, SIG_IGN);
  const Fd ready(ready_fd);
  const Result<std::unique_ptr<Daemon>> daemon = Daemon::make(options);
  const std::string answer = daemon ? "ok" : daemon.error().message;
  if (ready) {
    (void)!::write(ready.get(), answer.data(), answer.size());
  }
  if (!daemon) {
    std::fprintf(stderr, "berth daemon: %s\n", answer.c_str());
    return exit_code(daemon.error().code);
  }
  const_cast<Fd&>(ready).reset();
  (*daemon)->run();
  return 0;
}

}  // namespace berth
