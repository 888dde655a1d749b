#include "policy/time_slices.h"

#include <algorithm>
#include <set>
#include <tuple>

namespace berth {

TimeSlices::TimeSlices(Duration slice) : slice_(std::max(slice, Duration{1})) {}

void TimeSlices::started(JobId job, std::vector<DeviceId> devices, Time now) {
  members_.push_back({job, std::move(devices), true, now, ++orders_});
}

void TimeSlices::ended(JobId job) {
  std::erase_if(members_, [&](const Member& member) { return member.job == job; });
}

std::vector<TimeSlices::Change> TimeSlices::turns(Time now) {
  const bool over = now >= turn_ends_;
  if (over) {
    turn_ends_ = add_saturating(now, slice_);
  }
  // A new job runs already, but not by turn: it has no right to go on.
  const auto keeps = [&](const Member& member) {
    return !over && member.runs && member.waits_since == kNever;
  };
  if (over) {
    for (Member& member : members_) {
      if (member.waits_since == kNever) {
        member.waits_since = now;
        member.order = ++orders_;
      }
    }
  }
  std::sort(members_.begin(), members_.end(), [&](const Member& a, const Member& b) {
    return std::tuple(!keeps(a), a.waits_since, a.order) <
           std::tuple(!keeps(b), b.waits_since, b.order);
  });
  std::set<DeviceId> taken;
  std::vector<Change> stops;
  std::vector<Change> goes;
  for (Member& member : members_) {
    const bool runs = std::none_of(member.devices.begin(), member.devices.end(),
                                   [&](DeviceId device) { return taken.contains(device); });
    if (runs) {
      taken.insert(member.devices.begin(), member.devices.end());
    } else if (member.waits_since == kNever) {
      member.waits_since = now;
      member.order = ++orders_;
    }
    if (runs != member.runs) {
      (runs ? goes : stops).push_back({member.job, runs});
    }
    member.runs = runs;
    if (runs) {
      member.waits_since = kNever;
    }
  }
  stops.insert(stops.end(), goes.begin(), goes.end());
  return stops;
}

Time TimeSlices::next() const {
  const bool waits = std::any_of(members_.begin(), members_.end(),
                                 [](const Member& member) { return !member.runs; });
  return waits ? turn_ends_ : kNever;
}

bool TimeSlices::is_stopped(JobId job) const {
  return std::any_of(members_.begin(), members_.end(),
                     [&](const Member& member) { return member.job == job && !member.runs; });
}

}  // namespace berth
