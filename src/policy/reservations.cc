#include "policy/reservations.h"

namespace berth {
namespace {

constexpr std::size_t kMostReserved = 1000;
/// That want more than there is, as while a device is lost, and are passed over.
constexpr std::size_t kMostHopeless = 4000;

}  // namespace

void Reservations::join(JobId id, const Want& want) {
  waiting_[id] = {want};
  unplanned_.insert(id);
}

bool Reservations::leave(JobId id) {
  const auto found = waiting_.find(id);
  planned_.erase({found->second.start, id});
  waiting_.erase(found);
  return unplanned_.erase(id) + hopeless_.erase(id) == 0;
}

void Reservations::clear(Time now, Amount all) {
  profile_ = Profile(now, all);
  for (const auto& [start, id] : planned_) {
    unplanned_.insert(id);
  }
  planned_.clear();
  unplanned_.merge(hopeless_);
}

void Reservations::make_more(Time now) {
  while (!unplanned_.empty() && planned_.size() < kMostReserved &&
         hopeless_.size() < kMostHopeless) {
    const JobId id = *unplanned_.begin();
    unplanned_.erase(unplanned_.begin());
    reserve(id, waiting_.at(id), now);
  }
}

void Reservations::reserve(JobId id, Waiting& job, Time now) {
  const auto& [shape, amount, length] = job.want;
  job.start = profile_.earliest(now, length, amount);
  if (job.start != kNever) {
    profile_.take(job.start, add_saturating(job.start, length), amount);
    planned_.insert({job.start, id});
  } else {
    hopeless_.insert(id);
  }
}

Time Reservations::next_after(Time now) const {
  const auto next = planned_.upper_bound({now, JobId{UINT64_MAX}});
  return next == planned_.end() ? kNever : next->first;
}

}  // namespace berth
