// What happens to a RandomWorld.
#include <algorithm>

#include "core/random_world.h"
#include "policy/policies.h"

namespace berth {

using std::chrono::seconds;

std::unique_ptr<Policy> RandomWorld::make_any_policy() {
  skips_ahead_ = true;
  if (chance(2)) {
    return make_priority({.aging = time_below(100), .backfill = {.patience = time_below(2000)}});
  }
  static const std::set<std::string_view> kSkipping = {"lottery", "stride", "wfq",
                                                       "fair",    "drf",    "energy"};
  std::vector<std::string_view> names = policy_names();
  names.insert(names.end(), {"f1+easy", "sjf+commit", "fifo+commit+backfill"});
  const std::string_view name = names[random_.below(names.size())];
  skips_ahead_ = kSkipping.contains(name);
  PolicyOptions options;
  options.slice = seconds(1 + random_.below(100));
  return std::move(*make_policy(name, options));
}

void RandomWorld::add_device() {
  DeviceSpec spec;
  spec.name = std::to_string(scheduler_->devices().size());
  spec.model = chance(2) ? "A" : "B";
  spec.memory = chance(8) ? Bytes{} : gibibytes(8) + Bytes{memory_below(4).count * 8};
  spec.locality.island = static_cast<std::uint16_t>(random_.below(4));
  spec.locality.numa = static_cast<std::uint16_t>(spec.locality.island / 2);
  scheduler_->add_device(spec);
}

void RandomWorld::input() {
  const std::uint64_t kind = random_.below(32);
  if (kind < 9) {
    submit();
  } else if (kind < 19) {
    end_one();
  } else if (kind < 22 && !submitted_.empty()) {
    command(!running_.empty() && chance(3) ? any(running_) : any_recent());
  } else if (kind < 25) {
    use_memory();
  } else if (kind < 29) {
    change_device();
  } else if (kind == 29) {
    chance(4) ? tell(Pause{}) : tell(Resume{});
  } else if (kind == 30) {
    rerun();
  } else if (chance(3)) {
    restart();
  } else {
    switch_policy();
  }
}

JobSpec RandomWorld::any_spec() {
  JobSpec spec;
  spec.needs.gpus = chance(10) ? 0 : 1 + number(chance(3) ? 6 : 2);
  if (chance(2)) {
    spec.needs.memory = gibibytes(1) + memory_below(12);
  } else if (chance(3)) {
    spec.needs.profile = seconds(1 + random_.below(60));
  }
  if (chance(4)) {
    spec.needs.share = 100 * (1 + number(10));
  }
  if (chance(4) && spec.needs.gpus == 1) {
    spec.needs.mps = mps_of(number(2));
  }
  if (chance(8)) {
    spec.needs.model = "a";
  }
  if (chance(10)) {
    const std::string device = std::to_string(random_.below(4));
    (chance(2) ? spec.needs.exclude : spec.needs.prefer).assign(1, device);
  }
  spec.priority = static_cast<std::int32_t>(random_.below(7)) - 3;
  if (chance(2)) {
    spec.expected = seconds(1 + random_.below(500));
  }
  if (chance(4)) {
    spec.limit = seconds(1 + random_.below(500));
    spec.warn_before = time_below(100);
  }
  if (chance(6)) {
    spec.begin = now_ + time_below(300);
  }
  if (chance(5)) {
    spec.retry.most = static_cast<std::uint16_t>(1 + random_.below(3));
    spec.retry.backoff = time_below(60);
  }
  spec.retry.when_lost = chance(5);
  if (chance(4) && !submitted_.empty()) {
    spec.after.push_back({any_recent(), static_cast<Dependency::When>(random_.below(3))});
  }
  spec.held = chance(12);
  spec.owner = OwnerId{number(4)};
  spec.weight = static_cast<std::uint16_t>(1 + random_.below(3));
  return spec;
}

void RandomWorld::submit() {
  Submit wish{any_spec(), JobId{next_id_}};
  wish.count = chance(6) ? 1 + number(5) : 1;
  ++inputs_;
  const Result<JobId> first = scheduler_->apply(wish, now_);
  check();
  for (std::uint32_t i = 0; first && i < wish.count; ++i) {
    const JobId id{first->value + i};
    submitted_.push_back(id);
    specs_[id] = wish.spec;
    next_id_ = id.value + 1;
  }
}

/// One that may still be there, most of the time.
JobId RandomWorld::any_recent() {
  const std::size_t recent = std::min<std::size_t>(submitted_.size(), chance(8) ? 1000 : 25);
  return submitted_[submitted_.size() - 1 - random_.below(recent)];
}

void RandomWorld::command(JobId job) {
  switch (random_.below(7)) {
    case 0:
      if (tell(Cancel{job})) {
        cancelled_.insert(job);
      }
      break;
    case 1:
      tell(Hold{job});
      break;
    case 2:
    case 3:
      edit(job);
      break;
    case 5:
      tell(Reestimate{job, std::chrono::seconds(1 + random_.below(5000))});
      break;
    case 4:
      tell(Reclaim{job, gibibytes(1) + memory_below(40)});
      break;
    default:
      tell(Release{job});
  }
}

void RandomWorld::edit(JobId job) {
  JobSpec spec = any_spec();
  spec.after = specs_[job].after;
  spec.held = specs_[job].held;
  if (tell(Edit{job, spec})) {
    specs_[job] = spec;
  }
}

/// What a reading shows: of one of our jobs, or of others.
void RandomWorld::use_memory() {
  const DeviceId one = device();
  const std::vector<DeviceLease>& leases = scheduler_->devices()[one].leases;
  if (leases.empty() || chance(3)) {
    tell(ForeignUse{one, memory_below(12)});
  } else {
    tell(JobUse{leases[random_.below(leases.size())].job, one, memory_below(16)});
  }
}

void RandomWorld::end_one() {
  if (running_.empty()) {
    return;
  }
  const JobId job = any(running_);
  running_.erase(job);
  const bool starting = starting_.erase(job) > 0;
  if (starting && chance(3)) {
    tell(StartRefused{job, {}});  // the driver has given it up
    return;
  }
  if (chance(12)) {
    tell(JobLost{job});
    return;
  }
  JobExited exited{job};
  if (starting && chance(3)) {
    exited.exit_code = 127;
    exited.started = false;
  } else if (chance(4)) {
    exited.exit_code = static_cast<int>(random_.below(3));
  } else if (chance(10)) {
    exited.signal = 9;
  } else if (others_about_ && chance(5)) {
    exited.exit_code = 1;
    exited.memory =
        MemoryEnd{{static_cast<MemoryCause>(random_.below(3)), any(submitted_)}, memory_below(20)};
  }
  tell(exited);
}

void RandomWorld::change_device() {
  const DeviceId one = device();
  switch (random_.below(4)) {
    case 0:
      tell(DeviceChanged{one, static_cast<DeviceHealth>(random_.below(4))});
      break;
    case 1:
      tell(DeviceChanged{one, DeviceHealth::Ok});
      break;
    case 2:
      if (chance(8) && scheduler_->devices().size() < 16) {
        add_device();
        check();
      }
      break;
    default:
      // Another berth can only take what we have no lease on.
      tell(DeviceTaken{one, scheduler_->devices()[one].leases.empty() && chance(3)});
  }
}

void RandomWorld::switch_policy() {
  ++inputs_;
  const auto placement = static_cast<Placement>(random_.below(5));
  scheduler_->set_policy(make_any_policy(), placement);
  check();
}

/// A new process takes up what the one before has written down.
void RandomWorld::restart() {
  if (!leaving_.empty()) {
    return;  // no driver that can be restarted preempts
  }
  const std::unique_ptr<Scheduler> before = std::move(scheduler_);
  config_.placement = before->placement();
  scheduler_ = std::make_unique<Scheduler>(make_any_policy(), config_);
  for (const DeviceSlot& slot : before->devices().all()) {
    const DeviceId id = scheduler_->add_device(slot.spec);
    tell(DeviceChanged{id, slot.health});
  }
  std::vector<JobId> live = submitted_;
  std::sort(live.begin(), live.end());
  for (const JobId id : live) {
    const Job* job = before->find(id);
    if (job == nullptr || std::holds_alternative<Ended>(job->state)) {
      continue;
    }
    Restore command{id, specs_[id], job->submitted, job->attempt, std::nullopt};
    command.memory_retries = job->traits().memory_retries;
    command.spec.needs = before->needs(*job);
    command.spec.held = false;
    if (const auto* held = std::get_if<Held>(&job->state)) {
      command.spec.held = true;
      command.spec.begin = held->then.not_before;
    } else if (const auto* queued = std::get_if<Queued>(&job->state)) {
      command.spec.begin = queued->not_before;
    } else if (const auto* starting = std::get_if<Starting>(&job->state)) {
      command.running = Running{starting->devices, starting->since, starting->stopping};
      command.starting = true;
    } else {
      command.running = std::get<Running>(job->state);
    }
    tell(command);
  }
  for (std::uint32_t i = 0; i < scheduler_->devices().size(); ++i) {
    tell(ForeignUse{DeviceId{i}, before->devices()[DeviceId{i}].foreign});
  }
}

/// A job that has ended is to run again, under its number.
void RandomWorld::rerun() {
  if (ended_.empty()) {
    return;
  }
  const JobId job = any(ended_);
  if (scheduler_->find(job) != nullptr) {
    return;
  }
  const std::uint16_t attempt = chance(4) ? 65534 : 0;  // the last but one
  Restore command{job, specs_[job], now_, attempt, std::nullopt};
  command.spec.after.clear();
  command.spec.begin = {};
  command.spec.held = false;
  specs_[job] = command.spec;
  ended_.erase(job);
  cancelled_.erase(job);
  tell(command);
}

}  // namespace berth
