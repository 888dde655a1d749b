// What the scheduler does when more is known about how long jobs run.
#include <algorithm>

#include "core/scheduler.h"

namespace berth {

void Scheduler::apply(const Reestimate& command) {
  Job* job = change(command.job);
  if (job == nullptr || !job->waiting()) {
    return;
  }
  const bool competes = queue_.contains(*job);
  if (competes) {
    queue_.erase(*job);
    policy_->left(*job, needs(*job));
  }
  job->expected = std::max(command.expected, Duration{1});
  if (competes) {
    // Where it would stand had this been known when it came. A rank that hangs on what else has
    // happened since cannot be had again, and stays.
    job->rank = policy_->ranks_by_history() ? job->rank : policy_->rank(*job, needs(*job));
    queue_.insert(*job);
    policy_->joined(*job, needs(*job));
  }
}

}  // namespace berth
