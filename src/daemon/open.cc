// Opening the daemon: its files, its devices, and what the daemon before has left.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "base/failpoint.h"
#include "core/recipe.h"
#include "daemon/daemon.h"

namespace berth {
namespace {

Duration since_epoch(auto clock_now) {
  return std::chrono::duration_cast<Duration>(clock_now.time_since_epoch());
}

/// Entries of the journal for restored jobs. Those that wait and have never run come as ranges, so
/// that a million of them are one line.
class RestoredEntries {
 public:
  void add(const Restore& command) {
    Restored entry{
        command.id,      1, command.spec.held, command.spec.begin, command.attempt, command.running,
        command.starting};
    if (command.memory_retries > 0) {
      entry.claim = command.spec.needs.memory;
      entry.memory_retries = command.memory_retries;
    }
    if (!entries_.empty()) {
      Restored& last = entries_.back();
      const bool plain = !entry.running && entry.attempt == 0 && entry.not_before == Time{};
      const bool last_plain = !last.running && last.attempt == 0 && last.not_before == Time{};
      if (plain && last_plain && last.held == entry.held &&
          last.first.value + last.count == entry.first.value) {
        ++last.count;
        return;
      }
    }
    entries_.push_back(std::move(entry));
  }
  const std::vector<Restored>& entries() const { return entries_; }

 private:
  std::vector<Restored> entries_;
};

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
  usage_.open(paths_.state + "/usage");
  // The launcher is forked while this process is small and has one thread.
  ShimRunner::Options runner_options;
  if (const char* boot_id = std::getenv("BERTH_BOOT_ID"); boot_id != nullptr && *boot_id != '\0') {
    runner_options.boot_id_path = boot_id;  // for tests: a reboot without one
  }
  Result<std::unique_ptr<ShimRunner>> runner =
      ShimRunner::make(paths_.state + "/jobs", runner_options);
  if (!runner) {
    return Failure(runner.error());
  }
  runner_ = std::move(*runner);
  Result<std::unique_ptr<Store>> store = Store::open(paths_.state + "/berth.db");
  if (!store) {
    return Failure(store.error());
  }
  store_ = std::move(*store);
  if (Result<void> set = set_clock(); !set) {
    return set;
  }
  opened_ = now();
  Scheduler::Config config;
  Result<std::unique_ptr<Policy>> policy = choose_policy(options, config.placement);
  if (!policy) {
    return Failure(policy.error());
  }
  owners_ = Owners(options.everyone ? ChargedTo::User : ChargedTo::Project);
  config.limits.buffer = options.buffer;
  config.enforce_claims = options.enforce_claims;
  config.limits.cpu_slots = std::max(1U, std::thread::hardware_concurrency());
  scheduler_ = std::make_unique<Scheduler>(std::move(*policy), config);
  // Numbers of events grow over restarts, as the time does.
  events_ = std::make_unique<EventHub>(
      static_cast<std::uint64_t>(now().time_since_epoch() / std::chrono::microseconds(1)),
      [this](JobId id) {
        const Result<JobRecord> record = store_->job_without_environment(id);
        return record ? to_json(report(*record)) : "";
      });
  mps_ = std::make_unique<Mps>(Mps::Owner{"daemon " + paths_.state, ""});
  journal(Restarted{policy_, config, owners_.whom()}, now());
  open_peaks();
  if (Result<void> added = add_devices(options.gpus); !added) {
    return added;
  }
  for (const auto step : {&Daemon::read_settings, &Daemon::restore, &Daemon::learn_from_past}) {
    if (Result<void> done = (this->*step)(); !done) {
      return done;
    }
  }
  start_telemetry();
  return open_server(options);
}

/// Time goes on from where the daemon before left it, also when the clock was set back meanwhile:
/// a job that ran before must not end before it began. After more than a day it is the past that
/// was wrong.
Result<void> Daemon::set_clock() {
  constexpr Duration kAtMost = std::chrono::hours(24);
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
  return {};
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
  for (std::uint32_t i = 0; i < device_states_.size(); ++i) {
    const std::string& name = devices_.list()[i].spec.name;
    const auto among = [&](const std::vector<std::string>& names) {
      return std::find(names.begin(), names.end(), name) != names.end();
    };
    device_states_[i].drained = among(*drained);
    device_states_[i].removed = among(*removed);
    apply_health(DeviceId{i}, now());
  }
  if (!paused->empty()) {
    scheduler_->apply(Pause{});
    journal(Pause{}, now());
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
  RestoredEntries entries;
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
      const bool is_over = known(ended);
      Running state{slots_named(scheduler_->devices(), job.devices), std::min(job.started, at),
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
      } else if (job.phase == JobPhase::Starting &&
                 ended.at(job.id).kind != AttemptEnd::Kind::NotStarted) {
        started_unseen.push_back({job.id, job.attempt, 0});  // nor was its end
      }
      if (runs || is_over || command.starting) {
        command.running = std::move(state);
        in_flight.push_back(job.id);
      }
    }
    scheduler_->apply(command, at);
    await_claim(job.id, 1, recipe_of(job.project, job.command));
    entries.add(command);
  });
  if (!read) {
    return fail(read.error().code,
                fmt::format("cannot take up the queue in {}/berth.db ({}); berth leaves it as it "
                            "is: move it away to begin with an empty queue, or put a backup in its "
                            "place",
                            paths_.state, read.error().message));
  }
  for (const Restored& entry : entries.entries()) {
    journal(entry, at);
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
    const Time started = end == ended.end() ? at : end_time(end->second);
    check(store_->start_attempt(start.job, start.attempt, start.pid, started));
  }
  for (const JobId id : in_flight) {
    const Result<JobRecord> job = store_->job(id);
    if (!job) {
      return Failure(job.error());
    }
    const auto start = running.find(id);
    Active& active = active_[id];
    active.recipe = recipe_of(job->description.project, job->description.command);
    active.user = job->description.user;
    if (const auto attempts = store_->attempts(id, 1); attempts && !attempts->empty()) {
      active.stdout_path = attempts->back().stdout_path;
      active.stderr_path = attempts->back().stderr_path;
    }
    active.warning_signal = job->description.warning_signal;
    active.pid = start == running.end() ? 0 : start->second.pid;
    active.devices = *scheduler_->find(id)->lease();
    active.gpus = static_cast<int>(active.devices.size());
    if (start != running.end()) {
      take_up_mps(id);
    }
  }
  mps_->take_over(devices_.list());
  if (Result<void> locked = open_locks(); !locked) {
    return locked;
  }
  for (const StartJob& start : to_start) {
    if (Result<void> prepared = start_again(start); !prepared) {
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
Result<void> Daemon::start_again(const StartJob& start) {
  const Result<JobRecord> job = store_->job(start.job);
  const Result<std::vector<StoredAttempt>> attempts = store_->attempts(start.job, 1);
  if (!job || !attempts || attempts->empty()) {
    return fail(ErrorCode::Io, fmt::format("the record of job {} is damaged", start.job.value));
  }
  launches_.push_back(launch_for(start, *job, attempts->back()));
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
  if (Result<void> listening = open_tcp(options); !listening) {
    return listening;
  }
  return server_->listen_unix(paths_.socket(), options.everyone);
}

}  // namespace berth
