// Jobs that follow others: who waits for whom, and what an end means to those who waited for it.
#include "core/scheduler.h"

namespace berth {
namespace {

/// Followers of ended jobs that hear of it between one step and the next. Each may become an end
/// that the driver records.
constexpr std::size_t kSettledAtOnce = 500;

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
      followers_[dependency.job].push_back({id, dependency.when});
      unmet.push_back(dependency);
      ++queued.unmet;
    }
  }
  if (!unmet.empty()) {
    jobs_.find(id)->own_traits().after = std::move(unmet);
  }
  return queued;
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
    ++settled_;
    settle(first.followers[first.heard++], first.outcome, now);
  }
}

void Scheduler::settle(const Follower& follower, Outcome outcome, Time now) {
  Job* job = jobs_.find(follower.job);
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
