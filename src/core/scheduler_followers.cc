// Jobs that follow others: who waits for whom, and what an end means to those who waited for it.
#include <algorithm>

#include "core/scheduler.h"

namespace berth {
namespace {

/// Followers of ended jobs that hear of it between one step and the next. Each may become an end
/// that the driver records.
constexpr std::size_t kSettledAtOnce = 500;

/// Followers of one job are in order of their ids; a job may be there more than once.
struct ById {
  template <class Follower>
  bool operator()(const Follower& follower, JobId id) const {
    return follower.job < id;
  }
  template <class Follower>
  bool operator()(JobId id, const Follower& follower) const {
    return id < follower.job;
  }
};

}  // namespace

/// Registers the job with those it follows. `never` is set when one of them has already ended the
/// wrong way.
Queued Scheduler::count_unmet(const JobSpec& spec, JobId id, bool& never) {
  Queued queued{spec.begin, 0};
  std::vector<Dependency> unmet;
  for (const Dependency& dependency : spec.after) {
    const Job* other = jobs_.find(dependency.job);
    if (other == nullptr) {
      // Only a restored job, or one that was checked a while ago, follows one that is forgotten:
      // had that not ended as required, the driver would have ended this one.
      continue;
    }
    if (const auto* ended = std::get_if<Ended>(&other->state)) {
      never = never || !satisfied(dependency.when, ended->outcome);
    } else {
      // In order of id, whoever was told of first: mostly that is at the end.
      std::vector<Follower>& others = followers_[dependency.job];
      others.insert(std::upper_bound(others.begin(), others.end(), id, ById{}),
                    {id, dependency.when});
      unmet.push_back(dependency);
      ++queued.unmet;
    }
  }
  if (!unmet.empty()) {
    jobs_.find(id)->own_traits().after = std::move(unmet);
  }
  return queued;
}

/// A job that waits no more must not be looked at when one that it followed ends: it may be of very
/// many.
void Scheduler::stop_following(const Job& job) {
  for (const Dependency& dependency : job.traits().after) {
    const auto found = followers_.find(dependency.job);
    if (found == followers_.end()) {
      continue;
    }
    const auto own = std::equal_range(found->second.begin(), found->second.end(), job.id, ById{});
    std::for_each(own.first, own.second, [](Follower& follower) { follower.gone = true; });
  }
}

/// What it still waits for of what it follows. One of those that have ended may wait again, after a
/// rerun, and is not followed for that.
std::vector<Dependency> Scheduler::unmet_of(const Job& job) const {
  std::vector<Dependency> unmet;
  for (const Dependency& dependency : job.traits().after) {
    const auto found = followers_.find(dependency.job);
    if (found == followers_.end()) {
      continue;
    }
    const auto own = std::equal_range(found->second.begin(), found->second.end(), job.id, ById{});
    if (std::any_of(own.first, own.second, [&](const Follower& follower) {
          return !follower.gone && follower.when == dependency.when;
        })) {
      unmet.push_back(dependency);
    }
  }
  return unmet;
}

/// Those that follow a job that has just ended hear of it, now or, where they are many, in the
/// steps to come.
void Scheduler::settle_followers(const Job& ended, Time now) {
  await_settling(ended);
  settle_some(now);
}

void Scheduler::await_settling(const Job& ended) {
  const auto found = followers_.find(ended.id);
  if (found != followers_.end()) {
    settling_.push_back({std::get<Ended>(ended.state).outcome, std::move(found->second)});
    followers_.erase(found);
  }
}

void Scheduler::settle_some(Time now) {
  settled_at_ = now;
  while (!settling_.empty() && settled_ < kSettledAtOnce) {
    Settling& first = settling_.front();
    if (first.heard == first.followers.size()) {
      settling_.pop_front();
      continue;
    }
    const Follower follower = first.followers[first.heard++];
    if (!follower.gone) {
      ++settled_;
      settle(follower, first.outcome, now);
    }
  }
}

void Scheduler::settle(const Follower& follower, Outcome outcome, Time now) {
  Job* job = change(follower.job);
  if (job == nullptr || !job->waiting()) {
    return;  // cancelled meanwhile
  }
  auto* held = std::get_if<Held>(&job->state);
  Queued& queued = held != nullptr ? held->then : std::get<Queued>(job->state);
  if (queued.unmet == 0) {
    return;  // cancelled meanwhile, and submitted anew: it follows nobody
  }
  if (!satisfied(follower.when, outcome)) {
    finish(*job, {Outcome::Cancelled, EndReason::Dependency, 0, 0, kNever, now});
    await_settling(*job);
    return;
  }
  --queued.unmet;
  if (held == nullptr) {
    enter_queue(*job, now);
  }
}

}  // namespace berth
