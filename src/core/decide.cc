// Decisions: asking the policy, checking what it proposes, and explaining what does not start.
#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"
#include "core/scheduler.h"

namespace berth {

namespace {

/// Jobs whose time has come, in one step.
constexpr std::size_t kTimersAtOnce = 1000;

bool has_twice(const std::vector<DeviceId>& devices) {
  if (std::adjacent_find(devices.begin(), devices.end(), std::greater_equal<>()) == devices.end()) {
    return false;  // in order, as they come as a rule
  }
  std::vector<DeviceId> sorted = devices;
  std::sort(sorted.begin(), sorted.end());
  return std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end();
}

}  // namespace

class Scheduler::CurrentView final : public View {
 public:
  CurrentView(const Scheduler& scheduler, Time now) : scheduler_(scheduler), now_(now) {}

  Time now() const override { return now_; }
  const Queue& queue() const override { return scheduler_.queue_; }
  const DeviceTable& devices() const override { return scheduler_.devices_; }
  const Job& job(JobId id) const override { return *scheduler_.jobs_.find(id); }

  std::optional<std::vector<DeviceId>> place(ShapeId shape,
                                             std::span<const DeviceId> avoid) const override {
    const Queue& waiting = scheduler_.queue_;
    const Bucket& bucket = waiting.bucket(shape);
    const DeviceTable& table = scheduler_.devices_;
    if (bucket.blocked_at == table.freed()) {
      return std::nullopt;
    }
    auto devices =
        table.place(bucket.needs, scheduler_.config_.placement, avoid,
                    bucket.needs.alone() ? 0 : waiting.whole_devices_wanted(), &waiting.mix());
    if (!devices && avoid.empty()) {
      waiting.mark_blocked(shape, table.freed());
    }
    return devices;
  }

  bool has_room(ShapeId shape) const override {
    const Bucket& bucket = scheduler_.queue_.bucket(shape);
    const DeviceTable& table = scheduler_.devices_;
    if (bucket.blocked_at == table.freed()) {
      return false;
    }
    const std::optional<bool> known = table.has_room(bucket.needs);
    if (known == false) {
      scheduler_.queue_.mark_blocked(shape, table.freed());
    }
    return known ? *known : place(shape, {}).has_value();
  }

  Time expected_free(DeviceId id, const Needs& needs) const override {
    const DeviceSlot& slot = scheduler_.devices_[id];
    if (slot.health != DeviceHealth::Ok || slot.taken ||
        !scheduler_.devices_.fits_when_empty(id, needs)) {
      return kNever;
    }
    if (slot.leases.empty() || needs.alone()) {
      Time end = now_;
      for (const DeviceLease& lease : slot.leases) {
        end = std::max(end, expected_end(job(lease.job)));
      }
      return scheduler_.devices_.fits_beside(id, needs, {}) ? end : kNever;  // else: foreign use
    }
    if (scheduler_.devices_.fits_beside(id, needs, slot.leases)) {
      return now_;
    }
    by_end_.clear();
    for (std::size_t i = 0; i < slot.leases.size(); ++i) {
      by_end_.emplace_back(expected_end(job(slot.leases[i].job)), i);
    }
    std::sort(by_end_.begin(), by_end_.end(), std::greater<>());
    left_.clear();
    for (const auto& [end, lease] : by_end_) {
      left_.push_back(slot.leases[lease]);
    }
    Time when = now_;
    while (!scheduler_.devices_.fits_beside(id, needs, left_)) {
      if (left_.empty()) {
        return kNever;  // foreign use stands in the way
      }
      when = by_end_[left_.size() - 1].first;
      left_.pop_back();
    }
    return when;
  }

 private:
  /// An estimate, or failing that the limit; a job past its estimate may end any moment.
  Time expected_end(const Job& job) const {
    const auto* running = std::get_if<Running>(&job.state);
    const Time since = running != nullptr ? running->since : now_;
    return std::max(now_, add_saturating(since, std::min(job.expected_left(), job.limit)));
  }

  const Scheduler& scheduler_;
  Time now_;
  // Of expected_free(), which is asked about every device.
  mutable std::vector<std::pair<Time, std::size_t>> by_end_;  // leases by the ends of their jobs
  mutable std::vector<DeviceLease> left_;
};

const std::vector<Action>& Scheduler::step(Time now) {
  settled_ = 0;
  settle_some(now);
  for (std::size_t left = kTimersAtOnce;
       left > 0 && !timers_.empty() && timers_.begin()->first <= now; --left) {
    on_timer(*change(timers_.begin()->second), now);
  }
  if (!paused_) {
    start_away(now);
    start_jobs(now);
  }
  returned_.clear();
  std::swap(returned_, pending_);
  return returned_;
}

void Scheduler::start_jobs(Time now) {
  const CurrentView view(*this, now);
  if (policy_->preempts()) {
    for (const JobId id : policy_->preempt(view)) {
      ask_to_preempt(id);
    }
  }
  while (const std::optional<Proposal> proposal = policy_->propose(view)) {
    if (std::string problem = why_invalid(*proposal); !problem.empty()) {
      // A policy that errs must not stop the queue: the round ends, and the next one asks anew.
      refusal_ = fmt::format("{}: {}", policy_->name(), problem);
      break;
    }
    start(*proposal, now);
  }
  policy_wake_ = queue_.size() == 0 ? kNever : policy_->next_look(view);
}

/// Jobs that are about to end, or to be preempted, are left to that, and one that is still to start
/// must have started first.
void Scheduler::ask_to_preempt(JobId id) {
  Job* job = change(id);
  if (job == nullptr || job->lease() == nullptr) {
    refusal_ = fmt::format("{}: job {} does not run", policy_->name(), id.value);
    return;
  }
  auto* running = std::get_if<Running>(&job->state);
  if (running != nullptr && running->stopping == Stopping::No) {
    running->stopping = Stopping::Preempted;
    pending_.push_back(PreemptJob{id});
  }
}

std::string Scheduler::why_invalid(const Proposal& proposal) const {
  const Job* job = jobs_.find(proposal.job);
  if (job == nullptr || !std::holds_alternative<Queued>(job->state) || !queue_.contains(*job)) {
    return fmt::format("job {} does not wait for devices", proposal.job.value);
  }
  const Needs& wanted = needs(*job);
  if (proposal.devices.size() != wanted.gpus) {
    return fmt::format("job {} needs {} devices, not {}", job->id.value, wanted.gpus,
                       proposal.devices.size());
  }
  if (wanted.gpus == 0 && !devices_.cpu_free()) {
    return fmt::format("no CPU slot is free for job {}", job->id.value);
  }
  if (has_twice(proposal.devices)) {
    return fmt::format("job {} cannot have one device twice", job->id.value);
  }
  for (const DeviceId device : proposal.devices) {
    if (device.value >= devices_.size() || !devices_.fits(device, wanted)) {
      return fmt::format("job {} does not fit on device {}", job->id.value, device.value);
    }
  }
  return "";
}

void Scheduler::start(const Proposal& proposal, Time now) {
  Job& job = *change(proposal.job);
  queue_.erase(job);
  policy_->left(job, needs(job));
  --waiting_;
  ++job.attempt;
  job.state = Starting{proposal.devices, now};
  take_devices(job, proposal.devices, now);
  pending_.push_back(StartJob{job.id, job.attempt, proposal.devices});
}

std::optional<Reservation> Scheduler::reservation(Time now) const {
  return queue_.heads().empty() || paused_ ? std::nullopt
                                           : policy_->reservation(CurrentView(*this, now));
}

Explanation Scheduler::explain(JobId id, Time now) const {
  using Kind = Explanation::Kind;
  const Job* job = jobs_.find(id);
  Explanation why;
  if (job == nullptr || !job->waiting()) {
    return why;
  }
  const Needs& wanted = needs(*job);
  why.needs = describe(wanted);
  if (std::holds_alternative<Held>(job->state)) {
    why.kind = Kind::Held;
    return why;
  }
  const auto& queued = std::get<Queued>(job->state);
  if (queued.not_before > now) {
    why.kind = Kind::NotYet;
    why.until = queued.not_before;
    why.tried = job->attempt > 0;
    return why;
  }
  if (queued.unmet > 0) {
    why.kind = Kind::Dependency;
    std::set<JobId> blockers;
    for (const Dependency& dependency : job->traits().after) {
      const Job* other = jobs_.find(dependency.job);
      if (other != nullptr && !std::holds_alternative<Ended>(other->state)) {
        blockers.insert(dependency.job);
      }
    }
    why.blockers.assign(blockers.begin(), blockers.end());
    return why;
  }
  if (paused_) {
    why.kind = Kind::Paused;
    return why;
  }
  if (wanted.away()) {
    why.kind = Kind::Next;
    return why;
  }
  if (devices_.impossible(wanted)) {
    why.kind = Kind::Impossible;
    return why;
  }
  const CurrentView view(*this, now);
  if (!view.place(job->shape, {})) {
    why.kind = wanted.gpus == 0 ? Kind::NoSlot : Kind::NoDevice;
    why.ahead = ahead_of(*job, kMostAhead);
    why.wants_mps = wanted.mps != 0;
    std::vector<Time> when;
    for (std::uint32_t i = 0; i < devices_.size(); ++i) {
      const DeviceId device{i};
      if (!devices_.fits_when_empty(device, wanted)) {
        continue;
      }
      if (devices_[device].health == DeviceHealth::Lost) {
        ++why.lost;
      } else if (devices_[device].health != DeviceHealth::Ok) {
        ++why.drained;
      } else if (devices_[device].taken) {
        ++why.taken;
      } else if (devices_.fits(device, wanted)) {
        ++why.have;
      } else if (!devices_.fits_beside(device, wanted, {})) {
        ++why.foreign;
      } else if (devices_.fits_but_for_mps(device, wanted)) {
        ++(devices_[device].leases.front().mps == 0 ? why.no_mps : why.mps);
      } else {
        ++why.busy;
      }
      when.push_back(view.expected_free(device, wanted));
    }
    if (wanted.gpus > 0) {
      std::sort(when.begin(), when.end());
      why.until = when[wanted.gpus - 1];
      why.remedy = find_remedy(devices_, wanted, config_.placement);
    }
    return why;
  }
  if (const auto kept = policy_->reservation(view);
      kept && kept->job != id && !view.place(job->shape, kept->devices)) {
    why.kind = Kind::Reserved;
    why.other = kept->job;
    why.until = kept->from;
    return why;
  }
  const auto devices = view.place(job->shape, {});
  if (why.objection = policy_->objection(view, *devices); !why.objection.empty()) {
    why.kind = Kind::Objection;
    return why;
  }
  const JobId first = queue_.heads().begin()->first.job;
  why.kind = first == id ? Kind::Next : Kind::Behind;
  why.other = first;
  why.ahead = ahead_of(*job, kMostAhead);
  return why;
}

}  // namespace berth
