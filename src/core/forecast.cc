#include "core/forecast.h"

#include <algorithm>

#include "core/queue_order.h"

namespace berth {
namespace {

/// A start and an end of each job that is followed, and as many looks of the policy again. A policy
/// that wakes for ever, as behind a job that lasts a hundred years, ends here.
constexpr int kMostMoments = 20'000;

/// kForever where neither the job nor anybody else says.
Duration known_length(const Job& job) { return std::min(job.expected, job.limit); }

/// What is the same in the copy of a job that runs and of one that waits.
JobSpec spec_of(const Job& job, const Needs& needs) {
  JobSpec spec;
  spec.needs = needs;
  spec.owner = job.owner;
  spec.weight = job.weight;
  spec.priority = job.priority;
  spec.expected = job.expected;
  spec.limit = job.limit;
  return spec;
}

}  // namespace

std::size_t Scheduler::ahead_of(const Job& job, std::size_t most) const {
  const QueueKey key{job.rank, job.id};
  std::size_t ahead = 0;
  for (const Queue::Head& head : queue_.heads()) {
    if (key <= head.first) {
      break;  // nor do those behind this bucket's first
    }
    for (const QueueKey& other : queue_.bucket(head.shape).jobs) {
      if (key <= other) {
        break;
      }
      if (++ahead >= most) {
        return most;
      }
    }
  }
  return ahead;
}

void Scheduler::copy_running(Scheduler& copy, Time now) const {
  for (const JobId id : running_) {
    const Job& job = *jobs_.find(id);
    const auto* running = std::get_if<Running>(&job.state);
    Running state{*job.lease(), running != nullptr ? running->since : now};
    copy.apply(Restore{id, spec_of(job, needs(job)), job.submitted, 1, std::move(state)}, now);
  }
}

/// The first of the queue, in the policy's order, those that wait for a time, and those that follow
/// jobs which are copied, too.
void Scheduler::copy_waiting(Scheduler& copy, std::size_t most, Time now) const {
  std::set<JobId> ids;
  for (const JobId id : first_in_order(queue_, most)) {
    ids.insert(id);
  }
  for (const auto& [when, id] : timers_) {
    if (ids.size() >= 2 * most) {
      break;
    }
    if (const auto* queued = std::get_if<Queued>(&jobs_.find(id)->state);
        queued != nullptr && queued->unmet == 0) {
      ids.insert(id);
    }
  }
  // What is followed has a smaller number, so one walk upwards finds those that follow followers.
  std::map<JobId, std::vector<Dependency>> after;
  std::set<JobId> sources = ids;
  sources.insert(running_.begin(), running_.end());
  std::size_t looks = 10 * most;
  for (auto source = sources.begin(); source != sources.end() && looks > 0; ++source) {
    const auto found = followers_.find(*source);
    if (found == followers_.end()) {
      continue;
    }
    for (const Follower& follower : found->second) {
      if (looks == 0 || ids.size() >= 3 * most) {
        break;
      }
      --looks;
      const Job* job = jobs_.find(follower.job);  // one that was cancelled may be gone already
      const auto* queued = job == nullptr ? nullptr : std::get_if<Queued>(&job->state);
      if (queued == nullptr) {
        continue;
      }
      std::vector<Dependency>& known = after[follower.job];
      known.push_back({*source, follower.when});
      if (known.size() == queued->unmet) {
        ids.insert(follower.job);
        sources.insert(follower.job);
      }
    }
  }
  // By number, so that a job comes after those that it follows.
  for (const JobId id : ids) {
    const Job& job = *jobs_.find(id);
    Restore restore{id, spec_of(job, needs(job)), job.submitted, 0, std::nullopt};
    restore.spec.begin = std::get<Queued>(job.state).not_before;
    if (const auto known = after.find(id); known != after.end()) {
      restore.spec.after = known->second;
    }
    copy.apply(restore, now);
  }
}

Forecast Scheduler::forecast(std::unique_ptr<Policy> policy, Duration guess, std::size_t most,
                             Time now) const {
  if (paused_) {
    return {nullptr, guess, now};
  }
  auto copy = std::make_unique<Scheduler>(std::move(policy), config_);
  for (std::uint32_t i = 0; i < devices_.size(); ++i) {
    const DeviceId device{i};
    const DeviceSlot& slot = devices_[device];
    copy->add_device(slot.spec);
    copy->apply(DeviceChanged{device, slot.health});
    copy->apply(ForeignUse{device, slot.foreign});
    copy->apply(DeviceTaken{device, slot.taken});
  }
  copy_running(*copy, now);
  copy_waiting(*copy, most, now);
  return {std::move(copy), guess, now};
}

Forecast::Forecast(std::unique_ptr<Scheduler> copy, Duration guess, Time now)
    : copy_(std::move(copy)), guess_(guess), at_(now) {
  if (copy_ != nullptr) {
    for (const JobId id : copy_->running()) {
      const Job& job = *copy_->find(id);
      await_end(job, std::get<Running>(job.state).since);
    }
  }
}

void Forecast::await_end(const Job& job, Time since) {
  const Duration known = known_length(job);
  const Time end = add_saturating(since, known == kForever ? guess_ : known);
  if (end != kNever) {
    ends_.push({std::max(at_, end), job.id});
  }
}

void Forecast::decide() {
  for (const Action& action : std::vector<Action>(copy_->step(at_))) {
    if (const auto* start = std::get_if<StartJob>(&action)) {
      const Job& job = *copy_->find(start->job);
      runs_.emplace(start->job,
                    ExpectedRun{at_, add_saturating(at_, known_length(job)), start->devices});
      copy_->apply(JobStarted{start->job}, at_);
      await_end(job, at_);
    } else if (const auto* ended = std::get_if<JobEnded>(&action)) {
      copy_->forget(ended->job);
    }
  }
}

bool Forecast::advance() {
  if (copy_ == nullptr || ++moments_ > kMostMoments) {
    return false;
  }
  decide();
  const Time wake = copy_->wake_at();
  const Time next = ends_.empty() ? wake : std::min(wake, ends_.top().first);
  if (next == kNever || copy_->waiting() == 0) {
    return false;
  }
  at_ = std::max(at_, next);
  while (!ends_.empty() && ends_.top().first <= at_) {
    const JobId job = ends_.top().second;
    ends_.pop();
    if (const Job* there = copy_->find(job); there != nullptr && there->lease() != nullptr) {
      copy_->apply(JobExited{job}, at_);
    }
  }
  return true;
}

Forecast::Runs Forecast::finish() {
  while (advance()) {
  }
  return take();
}

}  // namespace berth
