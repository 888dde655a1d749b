#include "policy/reservations.h"

#include <algorithm>
#include <array>
#include <vector>

namespace berth {
namespace {

constexpr std::size_t kMostReserved = 1000;
/// That want more than there is, as while a device is lost, and are passed over.
constexpr std::size_t kMostHopeless = 4000;

}  // namespace

/// Where to begin to look for room, while room before what was found is only taken: who wants as
/// much as another for as long finds none before the other has. The last few that were found tell
/// nearly as much as all, and keep a plan of a thousand jobs from a thousand looks at all others.
class Reservations::Found {
 public:
  explicit Found(Time now) : now_(now) {}

  Time none_before(const Want& want) const {
    Time begin = now_;
    for (const auto& [amount, length, start] : last_) {
      begin = amount <= want.amount && length <= want.length ? std::max(begin, start) : begin;
    }
    return begin;
  }
  void add(const Want& want, Time start) {
    last_[next_++ % last_.size()] = {want.amount, want.length, start};
  }

 private:
  struct Start {
    Amount amount = 0;
    Duration length{};
    Time start{};
  };

  Time now_;
  std::array<Start, 64> last_{};
  std::size_t next_ = 0;
};

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
  Found found(now);
  while (!unplanned_.empty() && planned_.size() < kMostReserved &&
         hopeless_.size() < kMostHopeless) {
    const JobId id = *unplanned_.begin();
    unplanned_.erase(unplanned_.begin());
    reserve(id, found);
  }
}

void Reservations::compress(Time now) {
  Found found(now);
  const std::vector<InOrder::value_type> before(planned_.begin(), planned_.end());
  for (const auto& [start, id] : before) {
    Waiting& job = waiting_.at(id);
    const Time better =
        profile_.earlier(found.none_before(job.want), start, job.want.length, job.want.amount);
    found.add(job.want, better);
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
  Found found(now);
  const InOrder before = std::exchange(planned_, {});
  for (const auto& [start, id] : before) {
    reserve(id, found);
  }
}

void Reservations::give_up() {
  for (const auto& [start, id] : planned_) {
    unplanned_.insert(id);
  }
  planned_.clear();
  unplanned_.merge(hopeless_);
}

void Reservations::reserve(JobId id, Found& found) {
  Waiting& job = waiting_.at(id);
  job.start = profile_.earliest(found.none_before(job.want), job.want.length, job.want.amount);
  found.add(job.want, job.start);
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
