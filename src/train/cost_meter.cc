#include "train/cost_meter.h"

#include <algorithm>

namespace berth {

CostMeter::CostMeter(const Reward& reward, const Workload& workload)
    : rates_(workload.jobs.size()), left_(workload.jobs.size()) {
  const double each = 1 / std::max<double>(static_cast<double>(workload.jobs.size()), 1);
  for (std::size_t i = 0; i < rates_.size(); ++i) {
    if (reward.name == "slowdown") {
      rates_[i].there = each / std::max(to_seconds(workload.jobs[i].duration), 10.0);
    } else if (reward.name == "completion") {
      rates_[i].there = each;
    } else if (reward.name == "seed") {
      rates_[i].there = 1;
    } else if (reward.name == "wait") {
      rates_[i].waiting = each;
    }
  }
  every_second_ = (reward.name == "makespan" ? 1 : 0) + reward.makespan;
}

void CostMeter::came(std::size_t job, Time at) {
  until(std::max(at, at_ == kNever ? at : at_));
  const double rate = rates_[job].there + rates_[job].waiting;
  cost_ += rate * to_seconds(at_ - at);  // one that could not begin before
  rate_ += rate;
}

void CostMeter::started(std::size_t job, Time now) {
  until(now);
  rate_ -= rates_[job].waiting;
}

void CostMeter::ended(std::size_t job, Time now) {
  until(now);
  rate_ -= rates_[job].there;
  --left_;
}

double CostMeter::until(Time now) {
  const double passed = at_ == kNever ? 0 : to_seconds(now - at_);
  cost_ += passed * (rate_ + (left_ > 0 ? every_second_ : 0));
  at_ = now;
  return cost_;
}

}  // namespace berth
