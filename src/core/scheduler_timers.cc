// What the scheduler does when time passes: starts that may come, warnings, limits, and the end of
// the grace.
#include <algorithm>

#include "core/scheduler.h"

namespace berth {

void Scheduler::set_timer(Job& job, Time when) {
  if (job.timer == when) {
    return;
  }
  if (job.timer != kNever) {
    timers_.erase({job.timer, job.id});
  }
  job.timer = when;
  if (when != kNever) {
    timers_.insert({when, job.id});
  }
}

void Scheduler::on_timer(Job& job, Time now) {
  set_timer(job, kNever);
  if (std::holds_alternative<Queued>(job.state)) {
    enter_queue(job, now);
    return;
  }
  const auto* running = std::get_if<Running>(&job.state);
  if (running != nullptr && running->stopping == Stopping::No && profiles(job)) {
    ask_to_stop(job, Stopping::Profile, now);
    return;
  }
  if (running != nullptr && running->stopping == Stopping::No &&
      now < add_saturating(running->since, job.limit)) {
    pending_.push_back(WarnJob{job.id});
    set_timer(job, add_saturating(running->since, job.limit));
    return;
  }
  // Its time limit, or, when it has been asked to stop already, the end of the grace.
  ask_to_stop(job, Stopping::TimeLimit, now);
}

/// Wakes for the warning, if that is still to come, or else for the limit itself.
void Scheduler::await_limit(Job& job, Time since, Time now) {
  if (profiles(job)) {
    set_timer(job, add_saturating(since, needs(job).profile));
    return;
  }
  const Time limit = add_saturating(since, job.limit);
  const Time warning = limit == kNever ? kNever : limit - job.traits().warn_before;
  set_timer(job, job.traits().warn_before > Duration{} && warning > now ? warning : limit);
}

Time Scheduler::wake_at() const {
  if (!away_.empty() && !paused_) {
    return Time{};  // a step starts some of them
  }
  const Time next = settling_.empty() ? policy_wake_ : std::min(policy_wake_, settled_at_);
  return timers_.empty() ? next : std::min(next, timers_.begin()->first);
}

}  // namespace berth
