// Looking ahead: what would start when, if every estimate were right. The same scheduler plays the
// queue forward on a copy of itself, so a forecast can differ from what will happen only where the
// estimates do.
#include <algorithm>
#include <queue>

#include "core/scheduler.h"

namespace berth {
namespace {

using Ends = std::priority_queue<std::pair<Time, JobId>, std::vector<std::pair<Time, JobId>>,
                                 std::greater<>>;

/// kForever where neither the job nor anybody else says.
Duration known_length(const Job& job) { return std::min(job.expected, job.limit); }

Duration length_of(const Job& job, Duration guess) {
  const Duration known = known_length(job);
  return known == kForever ? guess : known;
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
      if (key <= other || ahead == most) {
        break;
      }
      ++ahead;
    }
  }
  return ahead;
}

/// The first of the queue, in the policy's order, and those that wait for a time or another job.
void Scheduler::copy_waiting(Scheduler& copy, std::size_t most, Time now) const {
  std::vector<QueueKey> chosen;
  for (const Queue::Head& head : queue_.heads()) {
    std::size_t left = most;
    for (const QueueKey& key : queue_.bucket(head.shape).jobs) {
      if (left-- == 0) {
        break;
      }
      chosen.push_back(key);
    }
  }
  std::sort(chosen.begin(), chosen.end());
  chosen.resize(std::min(chosen.size(), most));
  std::map<JobId, std::vector<Dependency>> after;
  for (const auto& [blocker, followers] : followers_) {
    for (const Follower& follower : followers) {
      after[follower.job].push_back({blocker, follower.when});
    }
  }
  std::set<JobId> ids;
  for (const QueueKey& key : chosen) {
    ids.insert(key.job);
  }
  for (const auto& [when, id] : timers_) {
    if (ids.size() < 2 * most && std::holds_alternative<Queued>(jobs_.find(id)->state)) {
      ids.insert(id);
    }
  }
  for (const auto& [id, blockers] : after) {
    if (ids.size() < 3 * most && std::holds_alternative<Queued>(jobs_.find(id)->state)) {
      ids.insert(id);
    }
  }
  // By number, so that a job comes after those that it follows.
  for (const JobId id : ids) {
    const Job& job = *jobs_.find(id);
    Restore restore{id, {}, job.submitted, 0, std::nullopt};
    restore.spec.needs = needs(job);
    restore.spec.owner = job.owner;
    restore.spec.weight = job.weight;
    restore.spec.priority = job.priority;
    restore.spec.expected = job.expected;
    restore.spec.limit = job.limit;
    restore.spec.begin = std::get<Queued>(job.state).not_before;
    bool followed = true;
    for (const Dependency& dependency : after[id]) {
      followed = followed && copy.find(dependency.job) != nullptr;
    }
    if (followed) {
      restore.spec.after = after[id];
      copy.apply(restore, now);
    }
  }
}

std::map<JobId, ExpectedRun> Scheduler::forecast(std::unique_ptr<Policy> policy, Duration guess,
                                                 std::size_t most, Time now) const {
  std::map<JobId, ExpectedRun> runs;
  if (paused_) {
    return runs;
  }
  Scheduler copy(std::move(policy), config_);
  Ends ends;
  for (std::uint32_t i = 0; i < devices_.size(); ++i) {
    const DeviceId device{i};
    const DeviceSlot& slot = devices_[device];
    copy.add_device(slot.spec);
    copy.apply(DeviceChanged{device, slot.health});
    copy.apply(ForeignUse{device, slot.foreign});
    copy.apply(DeviceTaken{device, slot.taken});
  }
  for (const JobId id : running_) {
    const Job& job = *jobs_.find(id);
    const auto* running = std::get_if<Running>(&job.state);
    Running state{*job.lease(), running != nullptr ? running->since : now};
    const Time end = add_saturating(state.since, length_of(job, guess));
    Restore restore{job.id, {}, job.submitted, 1, std::move(state)};
    restore.spec.needs = needs(job);
    restore.spec.owner = job.owner;
    restore.spec.weight = job.weight;
    restore.spec.expected = job.expected;
    restore.spec.limit = job.limit;
    copy.apply(restore, now);
    if (end != kNever) {
      ends.push({std::max(now, end), job.id});
    }
  }
  copy_waiting(copy, most, now);
  for (Time at = now;;) {
    for (const Action& action : std::vector<Action>(copy.step(at))) {
      if (const auto* start = std::get_if<StartJob>(&action)) {
        const Job& job = *copy.find(start->job);
        runs.emplace(start->job,
                     ExpectedRun{at, add_saturating(at, known_length(job)), start->devices});
        const Time end = add_saturating(at, length_of(job, guess));
        copy.apply(JobStarted{start->job}, at);
        if (end != kNever) {
          ends.push({end, start->job});
        }
      } else if (const auto* ended = std::get_if<JobEnded>(&action)) {
        copy.forget(ended->job);
      }
    }
    const Time wake = copy.wake_at();
    const Time next = ends.empty() ? wake : std::min(wake, ends.top().first);
    if (next == kNever || copy.waiting() == 0) {
      return runs;
    }
    at = std::max(at, next);
    while (!ends.empty() && ends.top().first <= at) {
      const JobId job = ends.top().second;
      ends.pop();
      if (const Job* there = copy.find(job); there != nullptr && there->lease() != nullptr) {
        copy.apply(JobExited{job}, at);
      }
    }
  }
}

}  // namespace berth
