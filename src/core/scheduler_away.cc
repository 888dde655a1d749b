// Jobs for clusters. Each cluster finds devices for its jobs, so these jobs compete for none here:
// they start as soon as nothing else holds them back, and are under way while they wait there.
#include "core/scheduler.h"

namespace berth {
namespace {

constexpr std::size_t kStartsAtOnce = 500;

}  // namespace

void Scheduler::start_away(Time now) {
  for (std::size_t left = kStartsAtOnce; left > 0 && !away_.empty(); --left) {
    Job& job = *change(*away_.begin());
    away_.erase(away_.begin());
    --waiting_;
    ++job.attempt;
    job.state = Starting{{}, now};
    take_devices(job, {}, now);
    pending_.push_back(StartJob{job.id, job.attempt, {}});
  }
}

/// The job has an attempt from here on, on these devices or on a cluster.
void Scheduler::take_devices(Job& job, const std::vector<DeviceId>& devices, Time since) {
  running_.insert(job.id);
  if (needs(job).away()) {
    return;
  }
  devices_.lease(job.id, needs(job), devices);
  queue_.mix().add(needs(job));
  policy_->started(job, needs(job), since);
}

/// Whether the job would start if there were room for it.
bool Scheduler::is_ready(const Job& job) const {
  return queue_.contains(job) || away_.contains(job.id);
}

}  // namespace berth
