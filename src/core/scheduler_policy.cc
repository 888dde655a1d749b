// Another policy for the same jobs.
#include "core/scheduler.h"

namespace berth {

/// The new policy is told what it would know had it been there from the start: what runs, and then
/// what waits, in order of submission. Kinds of jobs are told apart anew, because some policies
/// have buckets for each owner and others do not.
void Scheduler::set_policy(std::unique_ptr<Policy> policy, Placement placement) {
  Queue before;
  std::swap(before, queue_);
  policy_ = std::move(policy);
  config_.placement = placement;
  queue_.mix().keep(placement == Placement::Fgd);
  queue_.mix().measure_by(devices_.largest_memory());
  policy_wake_ = kNever;
  std::vector<Job*> waiting;
  jobs_.for_each([&](Job& job) {
    if (before.contains(job)) {
      waiting.push_back(&job);
    }
    set_needs(job, before.needs(job.shape));
    job.rank = 0;  // the other policy's: it means nothing to this one
  });
  for (const JobId id : running_) {
    const Job& job = *jobs_.find(id);
    if (needs(job).away()) {
      continue;
    }
    queue_.mix().add(needs(job));
    const auto* running = std::get_if<Running>(&job.state);
    policy_->started(job, needs(job),
                     running != nullptr ? running->since : std::get<Starting>(job.state).since);
  }
  for (Job* job : waiting) {
    job->rank = policy_->rank(*job, needs(*job));
    queue_.insert(*job);
    policy_->joined(*job, needs(*job));
  }
}

}  // namespace berth
