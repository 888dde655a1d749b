#include "drive/world.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "memory/peak_file.h"

namespace berth {
namespace {

constexpr auto kHearDeadline = std::chrono::seconds(20);

/// Returns when it is gone.
void kill_hard(pid_t pid) {
  const Fd process(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  if (process && ::kill(pid, SIGKILL) == 0) {
    pollfd gone{process.get(), POLLIN, 0};
    (void)::poll(&gone, 1, 20'000);
  }
}

}  // namespace

World::World()
    : lock_folder_("BERTH_LOCKS", (folder_.path() + "/locks").c_str()),
      mps_folder_("FAKE_MPS", folder_.path().c_str()),
      path_("PATH", fmt::format("{}/fake_mps:{}", BERTH_TESTS_DIR, std::getenv("PATH")).c_str()) {
  options_.mark = folder_.path();
  options_.mps = {"test " + folder_.path(), "BERTH_TEST_MPS=" + folder_.path()};
  options_.sample_interval = std::chrono::hours(1);  // readings come when the test wants them
  options_.measure_power = false;
  options_.journal = [this](const JournalInput& input, Time at) {
    journal_.push_back({input, at});
  };
  // A clock that starts at nought would not tell the first reading from none.
  host_.set_time(Time(std::chrono::seconds(1)));
}

World::~World() {
  devices_.open(true);
  if (uses_mps_) {
    end_mps();
  }
}

Driver& World::driver() {
  if (driver_ == nullptr) {
    open();
  }
  return *driver_;
}

/// In the order of the daemon: what was there before is known before the locks and the readings.
void World::open() {
  std::vector<Restore> live;
  std::map<JobId, DrivenAttempt> attempts;
  if (driver_ != nullptr) {
    live = live_jobs();
    attempts = driver_->attempts().all();
    devices_.open(true);
    driver_.reset();
    locks_.reset();
    host_.forget_watches();
  }
  driver_ = must(Driver::make(options_, devices_, host_));
  host_.use(driver_.get());
  for (const Restore& command : live) {
    driver_->scheduler().tell(command, now());
  }
  for (auto& [job, known] : attempts) {
    DrivenAttempt attempt;
    attempt.number = known.number;
    attempt.devices = known.devices;
    attempt.facts = known.facts;
    attempt.pid = known.pid;
    driver_->attempts().adopt(job, std::move(attempt));
  }
  locks_ = must(DeviceLocks::open({"daemon", folder_.path(), "a test"}, devices_.list()));
  driver_->devices().use_locks(locks_.get());
  for (const auto& [job, known] : attempts) {
    if (known.pid == 0) {
      driver_->attempts().launch({job, known.number, known.devices}, now());
    }
  }
  if (reads_) {
    driver_->devices().start_readings();
  }
  devices_.open(false);
}

std::vector<Restore> World::live_jobs() const {
  std::vector<Restore> live;
  for (const auto& [id, spec] : specs_) {
    const Job* job = driver_->view().find(id);
    if (job == nullptr) {
      continue;
    }
    Restore command{id, spec, job->submitted, job->attempt, std::nullopt};
    command.memory_retries = job->traits().memory_retries;
    command.spec.needs = driver_->view().needs(*job);
    command.spec.held = std::holds_alternative<Held>(job->state);
    if (const auto* queued = std::get_if<Queued>(&job->state)) {
      command.spec.begin = queued->not_before;
    } else if (const auto* running = std::get_if<Running>(&job->state)) {
      command.running = *running;
    } else if (const auto* starting = std::get_if<Starting>(&job->state)) {
      command.running = Running{starting->devices, starting->since, starting->stopping};
      command.starting = true;
    }
    live.push_back(std::move(command));
  }
  return live;
}

void World::restart() { open(); }

Result<void> World::submit(const std::string& name, JobSpec spec, std::uint32_t array, bool mps,
                           const std::string& recipe) {
  if (mps) {
    uses_mps_ = true;
    spec.needs.mps = mps_of(0);
    if (const Result<void> settled = driver().mps().settle(spec.needs, ::geteuid()); !settled) {
      return settled;
    }
  }
  if (spec.needs.memory > Bytes{}) {
    spec.needs.claim = ClaimSource::Given;
  }
  if (!recipe.empty()) {
    driver().memory().claim(spec.needs, {recipe, {}});
  }
  const bool learned = !recipe.empty() && driver().lengths().estimate(spec, {recipe, {}}, 0);
  const Submit command{spec, JobId{next_id_}, std::max(array, 1U)};
  const Result<JobId> first = driver().scheduler().tell(command, now());
  if (!first) {
    return Failure(first.error());
  }
  for (std::uint32_t i = 0; i < command.count; ++i) {
    const JobId id{next_id_++};
    jobs_.remember(array > 0 ? fmt::format("{}.{}", name, i) : name, id);
    specs_[id] = spec;
    host_.set_recipe(id, {recipe, {}});
  }
  if (!recipe.empty()) {
    driver().memory().jobs_wait(*first, command.count, {recipe, {}});
  }
  if (learned) {
    driver().lengths().jobs_wait(*first, command.count, {recipe, {}}, 0);
  }
  return {};
}

Result<void> World::edit(JobId job, const JobSpec& spec) {
  Result<void> done = driver().scheduler().tell(Edit{job, spec}, now());
  if (done) {
    specs_[job] = spec;
  }
  return done;
}

void World::over(AttemptOver over) {
  host_.end_process(over.job);
  if (!driver().attempts().asks_for_output(over)) {
    over.output_end.clear();
  }
  driver().attempts().over(std::move(over), now());
}

void World::turn() {
  constexpr int kMost = 100;
  for (int turns = 0; driver().is_due(now()); ++turns) {
    require(turns < kMost, "it never comes to rest");
    driver().decide(now());
    const std::string broken = driver().view().broken_invariant(now());
    require(broken.empty(), "invariant: " + broken);
  }
  driver().settle();
}

void World::advance(Time until) {
  require(until >= now(), "time does not go back");
  while (driver().wake_at() <= until) {
    host_.set_time(std::max(now(), driver().wake_at()));
    turn();
  }
  host_.set_time(until);
}

void World::other_learns(const std::string& recipe, Bytes peak) const {
  PeakFile(options_.peaks, {[](const PastRun&) {}, [] {}}).add({{recipe, {}}, peak, {}});
}

void World::add_device(const DeviceSpec& spec) {
  if (driver_ == nullptr) {
    devices_.add(spec);
    return;
  }
  devices_.open(true);
  driver_->devices().stop_readings();
  devices_.add(spec);
  driver_->add_devices();
  driver_->devices().start_readings();
  devices_.open(false);
  turn();
}

void World::set_use(DeviceId device, const std::map<std::string, Bytes>& holders) {
  DeviceSample& sample = devices_.truth(device);
  sample.used = Bytes{};
  sample.processes.clear();
  for (const auto& [name, memory] : holders) {
    *sample.used += memory;
    if (lists_) {
      sample.processes.push_back(
          {name == "foreign" ? ::getpid() : host_.process_of(jobs_.id(name)), memory});
    }
  }
}

void World::begin_reading(bool asked) {
  if (!asked && !devices_.is_asked()) {
    driver().devices().read_soon();  // as if its time had come
  }
  require(devices_.begin_sample(), "nobody asks for a reading");
}

void World::end_reading() {
  devices_.end_sample();
  host_.wait_for("readings of devices");
}

DeviceLocks& World::other() {
  if (other_ == nullptr) {
    other_ = must(DeviceLocks::open({"run", "", "another test"}, devices_.list()));
  }
  return *other_;
}

void World::other_takes(DeviceId device) {
  require(other().try_acquire({&device, 1}).empty(), "it cannot have it");
}

void World::other_frees(DeviceId device) { other().release(device); }

bool World::other_could_take(DeviceId device) {
  const bool taken = other().try_acquire({&device, 1}).empty();
  other().release(device);
  return taken;
}

/// A folder in which everybody could remove the locks of others is not used.
void World::break_locks(bool broken) {
  require(::chmod((folder_.path() + "/locks").c_str(), broken ? 0777 : 01777) == 0, "chmod failed");
}

void World::mps_is_slow() {
  require(::mkfifo((folder_.path() + "/slow").c_str(), 0600) == 0, "mkfifo failed");
}

std::vector<pid_t> World::mps_processes(const std::string& verb) const {
  std::ifstream file(folder_.path() + "/journal");
  std::vector<pid_t> pids;
  for (std::string line; std::getline(file, line);) {
    if (const Words words = split(line, ' '); words.at(0) == verb) {
      pids.push_back(std::stoi(words.at(1)));
    }
  }
  return pids;
}

void World::mps_comes() {
  // Each that is slow has said so, and will say when it has started.
  while (mps_processes("slow").size() <= slow_started_) {
    host_.wait_for("MPS");
  }
  ++slow_started_;
  const std::string gate = folder_.path() + "/slow";
  const Fd writer(::open(gate.c_str(), O_WRONLY | O_CLOEXEC));  // waits for the stand-in to read
  std::filesystem::remove(gate);
}

void World::mps_dies() {
  const std::vector<pid_t> started = mps_processes("start");
  require(!started.empty(), "no control daemon has started");
  kill_hard(started.back());
}

/// What a test that is over has left running.
void World::end_mps() {
  std::filesystem::remove(folder_.path() + "/refuse");
  std::filesystem::remove(folder_.path() + "/slow");
  for (const pid_t pid : mps_processes("slow")) {
    kill_hard(pid);
  }
  if (driver_ != nullptr) {
    driver_->mps().finish();
    driver_.reset();
  }
  Mps last(options_.mps);  // for those that jobs still use
  last.take_over(devices_.list());
  last.finish();
}

void World::hear(const std::string& what) {
  const auto end = std::chrono::steady_clock::now() + kHearDeadline;
  while (host_.happened().empty()) {
    require(std::chrono::steady_clock::now() < end, "nothing has happened");
    host_.wait_for(what);
    turn();
  }
}

void World::check_replay() const {
  const Replayed again = replay(journal_);
  const auto words = [](const std::vector<StartJob>& starts) {
    std::string text;
    for (const StartJob& start : starts) {
      text += fmt::format(" {}.{} on", start.job.value, start.attempt);
      for (const DeviceId device : start.devices) {
        text += fmt::format(" {}", device.value);
      }
      text += ';';
    }
    return text;
  };
  require(words(again.starts) == words(host_.begun()),
          fmt::format("a replay starts{} and not{}", words(again.starts), words(host_.begun())));
  require(again.told.size() == journal_.size(),
          fmt::format("a replay writes {} entries and not {}", again.told.size(), journal_.size()));
  for (std::size_t i = 0; i < journal_.size(); ++i) {
    require(again.told[i].at == journal_[i].at &&
                again.told[i].input.index() == journal_[i].input.index(),
            fmt::format("a replay writes another entry {}", i));
  }
}

}  // namespace berth
