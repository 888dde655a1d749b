// Episode: a workload on a machine, decided by an agent from the first job to the last. The same
// agent on the same stage makes the same schedule.
#pragma once

#include "base/result.h"
#include "sim/simulate.h"
#include "train/agent.h"
#include "train/reward.h"

namespace berth {

/// Borrows all but the options.
struct Stage {
  const Workload& workload;
  const std::vector<Duration>& expected;
  const Machine& machine;
  SimOptions sim;
  const Reward& reward;
};

/// What the whole schedule costs, in the reward's own unit.
Result<double> play(const Stage& stage, Agent& agent);

}  // namespace berth
