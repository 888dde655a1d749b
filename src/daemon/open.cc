// Opening the daemon: its files, its devices, and what the daemon before has left.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <thread>

#include "base/failpoint.h"
#include "core/recipe.h"
#include "daemon/daemon.h"
#include "exec/process_identity.h"

namespace berth {
namespace {

/// The boot, and what the steady clock was turned into wall time by.
constexpr std::string_view kClockSetting = "clock";

Duration since_epoch(auto clock_now) {
  return std::chrono::duration_cast<Duration>(clock_now.time_since_epoch());
}

/// How long a process has been there, to the tick; nothing for none.
Duration age_of(pid_t pid) {
  const std::optional<ProcessIdentity> process = pid > 0 ? identify(pid) : std::nullopt;
  return process ? Duration((current_tick() - process->first_tick) * nanoseconds_per_tick())
                 : Duration{};
}

/// The slots of these names that are least in use; a name may stand for several slots.
std::vector<DeviceId> slots_named(const DeviceTable& devices,
                                  const std::vector<std::string>& names) {
  std::vector<DeviceId> slots;
  for (const std::string& name : names) {
    std::optional<DeviceId> best;
    for (std::uint32_t i = 0; i < devices.size(); ++i) {
      const DeviceId id{i};
      if (devices[id].spec.name == name &&
          std::find(slots.begin(), slots.end(), id) == slots.end() &&
          (!best || devices[id].leases.size() < devices[*best].leases.size())) {
        best = id;
      }
    }
    if (best) {
      slots.push_back(*best);
    }
  }
  return slots;
}

}  // namespace

Result<std::unique_ptr<Daemon>> Daemon::make(const DaemonOptions& options) {
  std::unique_ptr<Daemon> daemon(new Daemon);
  if (const Result<void> opened = daemon->open(options); !opened) {
    return Failure(opened.error());
  }
  return daemon;
}

Result<void> Daemon::open(const DaemonOptions& options) {
  options_ = options;
  fair_use_ = FairUse(options.per_user, ::getuid());
  privacy_ = Privacy(options.keep_private, ::getuid());
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
  if (options.everyone) {
    // Others pass through to the socket and to the logs of their own jobs, and see no names.
    for (const std::string& folder : {paths_.state, paths_.runtime, paths_.state + "/logs"}) {
      if (::chmod(folder.c_str(), 0711) != 0) {
        return fail_errno(fmt::format("cannot open {} to everyone", folder), errno);
      }
    }
  }
  Result<Fd> lock = take_daemon_lock(paths_.state);
  if (!lock) {
    return Failure(lock.error());
  }
  lock_ = std::move(*lock);
  log_.open(paths_.state + "/daemon.log");
  log_folder_ = LogFolder(paths_.state + "/logs");
  usage_.open(paths_.state + "/usage");
  // The launcher is forked while this process is small and has one thread.
  ShimRunner::Options runner_options;
  runner_options.boot_id_path = boot_id_path();
  Result<std::unique_ptr<ShimRunner>> runner =
      ShimRunner::make(paths_.state + "/jobs", runner_options);
  if (!runner) {
    return Failure(runner.error());
  }
  runner_ = std::move(*runner);
  for (const auto step : {&Daemon::open_store, &Daemon::set_clock}) {
    if (Result<void> done = (this->*step)(); !done) {
      return done;
    }
  }
  opened_ = now();
  // Numbers of events grow over restarts, as the time does.
  events_ = std::make_unique<EventHub>(
      static_cast<std::uint64_t>(now().time_since_epoch() / std::chrono::microseconds(1)),
      [this](JobId id) { return described(id); });
  if (Result<void> opened = open_driver(options); !opened) {
    return opened;
  }
  for (const auto step : {&Daemon::read_settings, &Daemon::restore, &Daemon::learn_from_past}) {
    if (Result<void> done = (this->*step)(); !done) {
      return done;
    }
  }
  driver_->devices().start_readings();
  return open_server(options);
}

Result<void> Daemon::open_driver(const DaemonOptions& options) {
  DriverOptions wanted;
  if (Result<void> chosen = choose_policy(options, wanted.config.placement); !chosen) {
    return chosen;
  }
  owners_ = Owners(options.everyone ? ChargedTo::User : ChargedTo::Project);
  wanted.policy = policy_;
  wanted.config.limits.buffer = options.buffer;
  wanted.config.enforce_claims = options.enforce_claims;
  wanted.config.limits.cpu_slots = std::max(1U, std::thread::hardware_concurrency());
  wanted.charged_to = owners_.whom();
  wanted.peaks = paths_.state + "/peaks";
  wanted.mark = paths_.state;
  wanted.mps = {"daemon " + paths_.state, ""};
  wanted.journal = [this](const JournalInput& input, Time at) { journal(input, at); };
  if (Result<void> added = add_devices(options.gpus); !added) {
    return added;
  }
  Result<std::unique_ptr<Driver>> driver = Driver::make(std::move(wanted), devices_, *this);
  if (!driver) {
    return Failure(driver.error());
  }
  driver_ = std::move(*driver);
  keep_policy(scheduler().placement());
  return {};
}

std::string Daemon::boot_id_path() {
  const char* path = std::getenv("BERTH_BOOT_ID");  // for tests: a reboot without one
  return path != nullptr && *path != '\0' ? path : ShimRunner::Options().boot_id_path;
}

/// Time goes on from where the daemon before left it, also when the clock was set back meanwhile:
/// a job that ran before must not end before it began. After more than a day it is the past that
/// was wrong.
///
/// How long a job has run is another question, and no business of the wall clock. Within a boot the
/// steady clock knows: what it has to be turned into wall time by is kept, and when that has
/// changed the starts of running jobs move along. (The steady clock stands still while the machine
/// sleeps, as their limits do.)
Result<void> Daemon::set_clock() {
  constexpr Duration kAtMost = std::chrono::hours(24);
  constexpr Duration kNoticeable = std::chrono::seconds(1);
  const Duration wall = wall_clock();
  Duration start = wall;
  if (store_->next_entry() > 1) {
    const auto last = store_->journal(store_->next_entry() - 1, 1);
    if (!last) {
      return Failure(last.error());
    }
    if (!last->empty()) {
      const Duration newest = last->front().time.time_since_epoch();
      start = newest > wall && newest - wall < kAtMost ? newest : wall;
    }
  }
  to_wall_ = start - since_epoch(std::chrono::steady_clock::now());
  const std::string boot = read_boot_id(boot_id_path());
  const Result<std::optional<std::string>> kept = store_->setting(kClockSetting);
  if (!kept) {
    return Failure(kept.error());
  }
  if (const std::string before = kept->value_or(""); before.starts_with(boot + ' ')) {
    if (const auto offset = parse_integer(before.substr(boot.size() + 1), "the clock")) {
      clock_shift_ = to_wall_ - Duration(*offset);
    }
  }
  if (clock_shift_ < kNoticeable && clock_shift_ > -kNoticeable) {
    to_wall_ -= clock_shift_;
    clock_shift_ = {};
  } else {
    log_.write(
        "the clock was set by {:.0f} s since the last daemon: jobs that run keep the time "
        "that they have had",
        to_seconds(clock_shift_));
  }
  return store_->set_setting(std::string(kClockSetting),
                             fmt::format("{} {}", boot, to_wall_.count()));
}

/// Their starts, as restore() has told the scheduler, on the present clock: the next daemon knows
/// of no earlier one.
void Daemon::shift_starts(const std::vector<JobId>& running) {
  if (clock_shift_ == Duration{}) {
    return;
  }
  for (const JobId id : running) {
    const Job& job = *scheduler().find(id);
    const auto* state = std::get_if<Running>(&job.state);
    const Result<std::vector<StoredAttempt>> attempts = store_->attempts(id);
    if (state != nullptr && attempts && !attempts->empty()) {
      check(store_->start_attempt(id, job.attempt, attempts->back().pid, state->since));
    }
  }
}

Result<void> Daemon::read_settings() {
  const auto text = [&](std::string_view name) -> Result<std::vector<std::string>> {
    const Result<std::optional<std::string>> value = store_->setting(name);
    if (!value) {
      return Failure(value.error());
    }
    std::vector<std::string> lines;
    std::string_view left = value->has_value() ? std::string_view(**value) : "";
    while (!left.empty()) {
      const std::size_t end = std::min(left.find('\n'), left.size());
      lines.emplace_back(left.substr(0, end));
      left.remove_prefix(std::min(end + 1, left.size()));
    }
    return lines;
  };
  const auto paused = text("paused");
  const auto drained = text("drained");
  const auto removed = text("removed");
  const auto added = text("added");
  if (!paused || !drained || !removed || !added) {
    return fail(ErrorCode::Io, "the settings in the database cannot be read");
  }
  for (const std::string& gpus : *added) {
    if (const Result<void> opened = add_devices(gpus); !opened) {
      // They may come back with the next start; the jobs of the others need not wait for them.
      log_.write(opened.error().message);
    }
    added_devices_.push_back(gpus);
  }
  for (std::uint32_t i = 0; i < driver_->devices().states().size(); ++i) {
    const std::string& name = devices_.list()[i].spec.name;
    const auto among = [&](const std::vector<std::string>& names) {
      return std::find(names.begin(), names.end(), name) != names.end();
    };
    driver_->devices().set_drained(DeviceId{i}, among(*drained), now());
    driver_->devices().set_removed(DeviceId{i}, among(*removed), now());
  }
  if (!paused->empty()) {
    driver_->scheduler().tell(Pause{}, now());
  }
  return {};
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
  // When an attempt ended that nobody was there to see, as far as its shim wrote it down.
  const auto end_time = [&](const AttemptEnd& end) {
    return end.ended_at == 0 ? at : std::min(at, from_wall(end.ended_at));
  };
  (void)BERTH_FAILPOINT("daemon.restore_adopted");
  std::vector<StartJob> to_start;            // devices were written down, but no shim ever was
  std::vector<LiveJob> without_devices;      // the same, and the devices are no longer there
  std::vector<AttemptStart> started_unseen;  // their start was not on disk yet
  std::vector<JobId> in_flight;
  const Result<void> read = store_->for_each_live([&](const LiveJob& job) {
    Restore command{job.id, job.spec, std::min(job.submitted, at), job.attempt, std::nullopt};
    command.spec.held = job.phase == JobPhase::Held;
    command.spec.begin = std::max(command.spec.begin, job.not_before);
    command.memory_retries = job.memory_retries;
    command.spec.owner = owners_.of(job.project, job.user);
    if (job.claim) {
      command.spec.needs.memory = *job.claim;
      command.spec.needs.share = *job.claim == Bytes{} ? 0 : command.spec.needs.share;
    }
    const auto known = [&](const auto& attempts) {
      const auto found = attempts.find(job.id);
      return found != attempts.end() && found->second.attempt == job.attempt;
    };
    if (job.phase == JobPhase::Starting || job.phase == JobPhase::Running) {
      const bool runs = known(running);
      if (!runs && !known(ended) &&
          runner_->may_have_run(job.id, job.attempt, job.phase == JobPhase::Running)) {
        ended[job.id] = {job.id, job.attempt, AttemptEnd::Kind::Lost};
      }
      const bool is_over = known(ended);
      Running state{slots_named(scheduler().devices(), job.devices),
                    std::min(job.started == kNever ? at : job.started + clock_shift_, at),
                    job.stopping};
      if (is_over && job.started == kNever) {
        state.since = end_time(ended.at(job.id));
      }
      if (!runs && !is_over && state.devices.size() != job.devices.size()) {
        without_devices.push_back(job);
      } else if (!runs && !is_over) {
        to_start.push_back({job.id, job.attempt, state.devices});
        command.starting = true;
      } else if (job.phase == JobPhase::Starting && runs) {
        started_unseen.push_back(running.at(job.id));
        state.since = at - age_of(started_unseen.back().pid);
      } else if (job.phase == JobPhase::Starting &&
                 ended.at(job.id).kind != AttemptEnd::Kind::NotStarted) {
        started_unseen.push_back({job.id, job.attempt, 0});  // nor was its end
      }
      if (runs || is_over || command.starting) {
        command.running = std::move(state);
        in_flight.push_back(job.id);
      }
    }
    driver_->scheduler().tell(command, at);
    fair_use_.joined(job.id, 1, job.user, job.project.size() + job.command.size());
    driver_->memory().jobs_wait(job.id, 1, recipe_of(job.project, job.command));
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
    const auto* state = std::get_if<Running>(&scheduler().find(start.job)->state);
    const Time started = end != ended.end() ? end_time(end->second)
                         : state != nullptr ? state->since
                                            : at;
    check(store_->start_attempt(start.job, start.attempt, start.pid, started));
  }
  for (const JobId id : in_flight) {
    const Result<JobRecord> job = store_->job(id);
    if (!job) {
      return Failure(job.error());
    }
    Attempt& attempt = attempts_[id];
    if (const auto attempts = store_->attempts(id, 1); attempts && !attempts->empty()) {
      attempt.stdout_path = attempts->back().stdout_path;
      attempt.stderr_path = attempts->back().stderr_path;
    }
    attempt.warning_signal = job->description.warning_signal;
    DrivenAttempt driven;
    driven.number = job->attempt;
    driven.devices = *scheduler().find(id)->lease();
    driven.facts.recipe = recipe_of(job->description.project, job->description.command);
    driven.facts.user = job->description.user;
    if (const auto start = running.find(id); start != running.end()) {
      driven.pid = start->second.pid;
      driven.cgroup = start->second.cgroup;
    }
    driver_->adopt(id, std::move(driven));
  }
  shift_starts(in_flight);
  driver_->mps().take_over(devices_.list());
  if (Result<void> locked = open_locks(); !locked) {
    return locked;
  }
  for (const StartJob& start : to_start) {
    if (Result<void> prepared = start_again(start, at); !prepared) {
      return prepared;
    }
  }
  for (const auto& [job, end] : ended) {
    take_end(end, at);
  }
  // The first turn commits it, and waits for room where the disk is full.
  (void)BERTH_FAILPOINT("daemon.restored");
  return {};
}

/// What the daemon before had written down that it would start: the same attempt, with the same
/// files.
Result<void> Daemon::start_again(const StartJob& start, Time at) {
  const Result<JobRecord> job = store_->job(start.job);
  const Result<std::vector<StoredAttempt>> attempts = store_->attempts(start.job, 1);
  if (!job || !attempts || attempts->empty()) {
    return fail(ErrorCode::Io, fmt::format("the record of job {} is damaged", start.job.value));
  }
  StoredAttempt attempt = attempts->back();
  attempt.begun = at;  // from where its time limit counts
  attempts_[start.job].launch = launch_for(start, *job, attempt);
  driver_->launch(start, at);
  return {};
}

/// How long jobs took, from those that ended last.
Result<void> Daemon::learn_from_past() {
  constexpr std::size_t kMost = 1000;
  JobQuery query;
  query.filter.phases = {JobPhase::Succeeded};
  query.order = JobOrder::ByEnd;
  query.descending = true;
  query.limit = kMost;
  const Result<JobPage> page = store_->list(query);
  if (!page) {
    return Failure(page.error());
  }
  for (auto job = page->jobs.rbegin(); job != page->jobs.rend(); ++job) {
    if (job->started != kNever && job->ending && job->ending->ended >= job->started) {
      history_.learn(recipe_of(job->description.project, job->description.command).key,
                     job->ending->ended - job->started);
    }
  }
  return {};
}

Result<void> Daemon::open_server(const DaemonOptions& options) {
  server_ = std::make_unique<HttpServer>(loop_, [this](HttpRequest request, Reply reply) {
    handle(std::move(request), std::move(reply));
  });
  server_->on_refusal([this](uid_t who, std::string_view what) {
    log_.write("{} was refused: {}",
               who == Budgets::kStrangers ? "somebody over TCP" : fmt::format("user {}", who),
               what);
  });
  if (Result<void> listening = open_tcp(options); !listening) {
    return listening;
  }
  return server_->listen_unix(paths_.socket(), options.everyone);
}

}  // namespace berth
