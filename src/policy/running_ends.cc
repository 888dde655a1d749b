#include "policy/running_ends.h"

#include <algorithm>

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
