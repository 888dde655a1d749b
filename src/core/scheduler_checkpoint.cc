// What a checkpoint carries from one scheduler to the next; see checkpoint.h.
#include "core/scheduler.h"

namespace berth {

/// Every change of a job goes through here, so that a checkpoint that is being written hears of it.
Job* Scheduler::change(JobId id) {
  note_change(id);
  return jobs_.find(id);
}

void Scheduler::note_change(JobId id) {
  if (changes_ != nullptr && id < changes_->below) {
    changes_->jobs.insert(id);
  }
}

bool Scheduler::at_rest(Time now) const {
  return pending_.empty() && settling_.empty() && jobs_.size() == waiting_ + running_.size() &&
         (timers_.empty() || timers_.begin()->first > now);
}

Restore Scheduler::as_it_stands(const Job& job) const {
  Restore kept{job.id, {}, job.submitted, job.attempt, std::nullopt};
  const RareTraits& traits = job.traits();
  kept.memory_retries = traits.memory_retries;
  kept.spec.needs = needs(job);
  kept.spec.priority = job.priority;
  kept.spec.expected = job.expected;
  kept.spec.limit = job.limit;
  kept.spec.owner = job.owner;
  kept.spec.weight = job.weight;
  kept.spec.retry = traits.retry;
  kept.spec.warn_before = traits.warn_before;
  Standing& standing = kept.standing.emplace();
  if (const std::vector<DeviceId>* lease = job.lease()) {
    const auto* starting = std::get_if<Starting>(&job.state);
    kept.starting = starting != nullptr;
    kept.running = starting != nullptr ? Running{*lease, starting->since, starting->stopping}
                                       : std::get<Running>(job.state);
    standing.timer = job.timer;
    for (const DeviceId device : *lease) {
      for (const DeviceLease& each : devices_[device].leases) {
        if (each.job == job.id) {
          standing.used.push_back(each.used);
        }
      }
    }
    return kept;
  }
  const auto* held = std::get_if<Held>(&job.state);
  const Queued& queued = held != nullptr ? held->then : std::get<Queued>(job.state);
  kept.spec.held = held != nullptr;
  kept.spec.begin = queued.not_before;
  kept.spec.after = queued.unmet > 0 ? unmet_of(job) : std::vector<Dependency>{};
  if (policy_->ranks_by_history() && queue_.contains(job)) {
    standing.rank = job.rank;
  }
  return kept;
}

/// A job with devices, as it was when the checkpoint was made.
void Scheduler::stand(Job& job, const Standing& standing) {
  set_timer(job, standing.timer);
  const std::vector<DeviceId>& devices = *job.lease();
  for (std::size_t i = 0; i < devices.size() && i < standing.used.size(); ++i) {
    devices_.set_used(job.id, devices[i], standing.used[i]);
  }
}

SchedulerBooks Scheduler::close_books() { return {paused_, settled_, policy_->close_books()}; }

Result<void> Scheduler::apply(const SchedulerBooks& books) {
  paused_ = books.paused;
  settled_ = books.settled;
  if (!policy_->take_books(books.policy)) {
    return fail(ErrorCode::Refused, "the books of the policy make no sense");
  }
  return {};
}

}  // namespace berth
