#include "policy/reservations.h"

#include <vector>

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
  const Waiting job = found->second;
  waiting_.erase(found);
  if (planned_.erase({job.start, id}) == 0) {
    unplanned_.erase(id);
    hopeless_.erase(id);
    return false;
  }
  profile_.give(job.start, end_of(job), job.want.amount);
  return true;
}

void Reservations::make_more(Time now) {
  while (!unplanned_.empty() && planned_.size() < kMostReserved &&
         hopeless_.size() < kMostHopeless) {
    const JobId id = *unplanned_.begin();
    unplanned_.erase(unplanned_.begin());
    reserve(id, waiting_.at(id), now);
  }
}

void Reservations::compress(Time now) {
  const std::vector<InOrder::value_type> before(planned_.begin(), planned_.end());
  for (const auto& [start, id] : before) {
    Waiting& job = waiting_.at(id);
    const Time better = profile_.earlier(now, start, job.want.length, job.want.amount);
    if (better < start) {
      profile_.give(start, end_of(job), job.want.amount);
      planned_.erase({start, id});
      job.start = better;
      profile_.take(better, end_of(job), job.want.amount);
      planned_.insert({better, id});
    }
  }
}

void Reservations::make_again(Time now) {
  const InOrder before = std::exchange(planned_, {});
  for (const auto& [start, id] : before) {
    reserve(id, waiting_.at(id), now);
  }
}

void Reservations::give_up() {
  for (const auto& [start, id] : planned_) {
    unplanned_.insert(id);
  }
  planned_.clear();
  unplanned_.merge(hopeless_);
}

void Reservations::reserve(JobId id, Waiting& job, Time now) {
  job.start = profile_.earliest(now, job.want.length, job.want.amount);
  if (job.start != kNever) {
    profile_.take(job.start, end_of(job), job.want.amount);
    planned_.insert({job.start, id});
  } else {
    hopeless_.insert(id);
  }
}

Time Reservations::next_after(Time now) const {
  const auto next = planned_.upper_bound({now, JobId{UINT64_MAX}});
  return next == planned_.end() ? kNever : next->first;
}

void Reservations::add_to(PolicyBooks& books) const {
  for (const auto& [start, id] : planned_) {
    books.push_back(static_cast<std::int64_t>(id.value));
    books.push_back(start.time_since_epoch().count());
  }
}

bool Reservations::take_books(std::span<const std::int64_t> books) {
  for (; books.size() >= 2; books = books.subspan(2)) {
    const JobId id{static_cast<std::uint64_t>(books[0])};
    if (unplanned_.erase(id) == 0) {
      return false;
    }
    waiting_.at(id).start = Time(Duration(books[1]));
    planned_.insert({waiting_.at(id).start, id});
  }
  return books.empty();
}

}  // namespace berth
