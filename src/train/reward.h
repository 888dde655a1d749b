// Reward: what a training run is to make small, by name: `slowdown` (mean bounded slowdown),
// `completion`, `wait`, `makespan`, or `seed` (minus the time that all jobs have waited and run, as
// student projects on this subject count it). Weights add others: `wait,makespan=0.5`, `p99` (of
// waits), `energy` and `fairness`.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "sim/summary.h"

namespace berth {

struct Reward {
  std::string name = "slowdown";
  double makespan = 0;  // weight of the makespan, in seconds
  double p99 = 0;       // weight of the 99th percentile of waits, in seconds
  double energy = 0;    // weight of the energy, in kWh for each job
  double fairness = 0;  // weight of 1 - Jain's index of the owners' slowdowns, times the rest
  double (*cost)(const Summary&) = nullptr;

  /// Smaller is better.
  double cost_of(const Summary& summary) const;
};

Result<Reward> parse_reward(std::string_view text);
std::string describe(const Reward& reward);

}  // namespace berth
