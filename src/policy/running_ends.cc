#include "policy/running_ends.h"

#include <algorithm>
#include <map>

#include "base/check.h"

namespace berth {

void RunningEnds::add(const Job& job, const Needs& needs, Time now) {
  const End end{add_saturating(now, std::min(job.expected_left(), job.limit)), job.id,
                amount_of(needs)};
  const auto place = std::upper_bound(ends_.begin(), ends_.end(), end,
                                      [](const End& a, const End& b) { return a.when < b.when; });
  ends_.insert(place, end);
  amount_ += end.amount;
}

void RunningEnds::remove(const Job& job) {
  const auto found =
      std::find_if(ends_.begin(), ends_.end(), [&](const End& end) { return end.job == job.id; });
  BERTH_CHECK(found != ends_.end());
  amount_ -= found->amount;
  ends_.erase(found);
}

void RunningEnds::add_to(PolicyBooks& books) const {
  for (const End& end : ends_) {
    books.push_back(static_cast<std::int64_t>(end.job.value));
    books.push_back(end.when.time_since_epoch().count());
  }
}

bool RunningEnds::take(std::span<const std::int64_t> books) {
  std::map<JobId, Amount> amounts;
  for (const End& end : ends_) {
    amounts[end.job] = end.amount;
  }
  ends_.clear();
  for (; books.size() >= 2; books = books.subspan(2)) {
    const JobId job{static_cast<std::uint64_t>(books[0])};
    const auto amount = amounts.find(job);
    if (amount == amounts.end()) {
      return false;
    }
    ends_.push_back({Time(Duration(books[1])), job, amount->second});
    amounts.erase(amount);
  }
  return books.empty() && amounts.empty() &&
         std::is_sorted(ends_.begin(), ends_.end(),
                        [](const End& a, const End& b) { return a.when < b.when; });
}

RunningEnds::Shadow RunningEnds::shadow(Amount wanted, Amount room, Time now) const {
  Shadow shadow{now, 0};  // there, but in pieces, if there is room already
  auto end = ends_.begin();
  for (; end != ends_.end() && room < wanted; ++end) {
    room += end->amount;
    shadow.when = std::max(end->when, now);
  }
  if (room < wanted) {
    return {};
  }
  shadow.spare = room - wanted;
  return shadow;
}

}  // namespace berth
