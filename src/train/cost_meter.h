// CostMeter: what a schedule has cost so far, while it is made. A job costs from when it comes, or
// for the reward `wait` until it starts. What only a whole schedule shows (energy, fairness, the
// longest waits) is not in it: whoever adds up an episode pays that at the end.
#pragma once

#include <vector>

#include "base/time.h"
#include "sim/workload.h"
#include "train/reward.h"

namespace berth {

class CostMeter {
 public:
  CostMeter(const Reward& reward, const Workload& workload);

  void came(std::size_t job, Time at);
  void started(std::size_t job, Time now);
  void ended(std::size_t job, Time now);

  double until(Time now);

 private:
  struct Rates {
    double there = 0;    // each second from submission to end
    double waiting = 0;  // each second from submission to start
  };

  std::vector<Rates> rates_;  // by job
  double every_second_ = 0;   // until the last job has ended
  std::size_t left_;          // jobs that have not ended
  double rate_ = 0;
  double cost_ = 0;
  Time at_ = kNever;  // kNever: nobody has come
};

}  // namespace berth
