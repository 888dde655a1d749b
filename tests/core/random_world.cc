#include "core/random_world.h"

#include <fmt/format.h>

namespace berth {

RandomWorld::RandomWorld(std::uint64_t seed) : random_(seed) {
  config_.placement = static_cast<Placement>(random_.below(5));
  config_.limits.cpu_slots = 1 + number(3);
  config_.grace = time_below(20);
  config_.enforce_claims = chance(2);
  scheduler_ = std::make_unique<Scheduler>(make_any_policy(), config_);
  for (std::uint64_t devices = 1 + random_.below(12); devices > 0; --devices) {
    add_device();
  }
}

std::string RandomWorld::run(int turns) {
  for (int i = 0; i < turns && problem_.empty(); ++i) {
    now_ += time_below(30);
    input();
    step();
  }
  if (problem_.empty()) {
    drain();
  }
  return problem_;
}

JobId RandomWorld::any(const std::set<JobId>& jobs) {
  auto chosen = jobs.begin();
  std::advance(chosen, static_cast<long>(random_.below(jobs.size())));
  return *chosen;
}

void RandomWorld::complain(const std::string& problem) {
  if (problem_.empty()) {
    problem_ = fmt::format("after input {}: {}", inputs_, problem);
  }
}

void RandomWorld::check() {
  if (const std::string broken = scheduler_->broken_invariant(now_); !broken.empty()) {
    complain(broken);
  }
}

/// Lets the scheduler decide, and the world react, until it has nothing more to say.
void RandomWorld::step() {
  bool again = true;
  while (again && problem_.empty()) {
    const std::vector<Action> actions = scheduler_->step(now_);
    check();
    for (const Action& action : actions) {
      std::visit([this](const auto& what) { take(what); }, action);
    }
    const bool room_made = put_back_some();
    again = refuse_some() || room_made;
    start_some();
  }
  check_idle_devices();
}

void RandomWorld::take(const StartJob& action) {
  for (const DeviceId device : action.devices) {
    if (scheduler_->devices()[device].taken) {
      complain(fmt::format("job {} was started on a taken device", action.job.value));
    }
  }
  if (cancelled_.contains(action.job)) {
    complain(fmt::format("job {} was cancelled, and starts again", action.job.value));
  }
  if (!running_.insert(action.job).second) {
    complain(fmt::format("job {} runs already", action.job.value));
  }
  just_started_.push_back(action);
}

void RandomWorld::take(const StopJob& action) {
  if (!running_.contains(action.job) && !ended_.contains(action.job) &&
      !scheduler_->find(action.job)->waiting()) {
    complain(fmt::format("job {} is to be stopped, but does not run", action.job.value));
  }
}

void RandomWorld::take(const WarnJob& action) {
  if (!running_.contains(action.job)) {
    complain(fmt::format("job {} is warned, but does not run", action.job.value));
  }
}

void RandomWorld::take(const JobEnded& action) {
  if (!ended_.insert(action.job).second) {
    complain(fmt::format("job {} ended twice", action.job.value));
  }
  const auto* ended = std::get_if<Ended>(&scheduler_->find(action.job)->state);
  if (ended == nullptr) {
    complain(fmt::format("job {} is said to have ended", action.job.value));
  } else if (ended->outcome == Outcome::Succeeded && cancelled_.contains(action.job)) {
    complain(fmt::format("job {} was cancelled, and has succeeded", action.job.value));
  }
  if (chance(2)) {
    scheduler_->forget(action.job);
  }
}

void RandomWorld::take(const JobRequeued& action) {
  if (running_.contains(action.job)) {
    complain(fmt::format("job {} is back in the queue, and runs", action.job.value));
  }
}

void RandomWorld::take(const PreemptJob& action) {
  if (!running_.contains(action.job)) {
    complain(fmt::format("job {} is to be preempted, but does not run", action.job.value));
  }
  leaving_.insert(action.job);
}

/// Now and then another berth was faster: it has some of the devices that are a job's alone.
bool RandomWorld::refuse_some() {
  bool any_refused = false;
  for (const StartJob& start : std::exchange(just_started_, {})) {
    StartRefused refusal{start.job, {}};
    for (const DeviceId device : start.devices) {
      if (others_about_ && chance(16) && scheduler_->devices()[device].leases.size() == 1) {
        refusal.taken.push_back(device);
      }
    }
    if (refusal.taken.empty()) {
      starting_.insert(start.job);
      continue;
    }
    tell(refusal);
    any_refused = true;
    running_.erase(start.job);
    if (scheduler_->find(start.job)->attempt != start.attempt - 1) {
      complain(fmt::format("job {} lost an attempt", start.job.value));
    }
  }
  return any_refused;
}

/// Most processes are there at once. Some take a while, or never come.
void RandomWorld::start_some() {
  const std::set<JobId> starting = starting_;
  for (const JobId job : starting) {
    if (const bool slow = job.value % 5 == 0; !slow || chance(8)) {
      tell(JobStarted{job});
      starting_.erase(job);
    }
  }
}

/// Jobs that were asked to leave do so, sooner or later, if they have not ended by then.
bool RandomWorld::put_back_some() {
  bool any_left = false;
  for (auto job = leaving_.begin(); job != leaving_.end();) {
    const Job* found = scheduler_->find(*job);
    const auto* running = found == nullptr ? nullptr : std::get_if<Running>(&found->state);
    const bool goes = running != nullptr && running->stopping == Stopping::Preempted;
    if (goes && chance(4)) {
      ++job;
      continue;
    }
    if (goes) {
      const std::uint16_t attempt = found->attempt;
      tell(JobPreempted{*job});
      if (scheduler_->find(*job)->attempt != attempt - 1) {
        complain(fmt::format("job {} lost an attempt when it was preempted", job->value));
      }
      running_.erase(*job);
      any_left = true;
    }
    job = leaving_.erase(job);
  }
  return any_left;
}

/// The first promise: nothing that fits waits, unless devices are kept for a job in front.
void RandomWorld::check_idle_devices() {
  if (!skips_ahead_ || scheduler_->paused()) {
    return;
  }
  for (const Queue::Head& head : scheduler_->queue().heads()) {
    const auto why = scheduler_->explain(head.first.job, now_).kind;
    if (why == Explanation::Kind::Behind || why == Explanation::Kind::Next) {
      complain(fmt::format("job {} fits but waits", head.first.job.value));
    }
  }
}

/// Everything that may run must run to its end once nothing is in the way any more.
void RandomWorld::drain() {
  others_about_ = false;
  tell(Resume{});
  for (std::uint32_t i = 0; i < scheduler_->devices().size(); ++i) {
    tell(DeviceTaken{DeviceId{i}, false});
    tell(DeviceChanged{DeviceId{i}, DeviceHealth::Ok});
    tell(ForeignUse{DeviceId{i}, Bytes{}});
  }
  for (const JobId job : submitted_) {
    tell(Release{job});
  }
  while (problem_.empty() && (scheduler_->waiting() > 0 || !scheduler_->running().empty())) {
    step();
    if (!running_.empty()) {
      now_ += std::chrono::seconds(1);
      end_one();
    } else if (scheduler_->wake_at() != kNever) {
      now_ = std::max(now_, scheduler_->wake_at());
    } else if (scheduler_->waiting() > 0) {
      complain(fmt::format("{} jobs are stuck", scheduler_->waiting()));
    }
  }
  step();
  if (ended_.size() != submitted_.size()) {
    complain(fmt::format("{} submitted, {} ended", submitted_.size(), ended_.size()));
  }
}

}  // namespace berth
