#include "train/episode.h"

#include "sim/summary.h"
#include "train/agent_policy.h"

namespace berth {

Result<double> play(const Stage& stage, Agent& agent) {
  CostMeter meter(stage.reward, stage.workload);
  const Result<SimRun> run =
      simulate(stage.workload, stage.expected, stage.machine,
               make_agent_policy(agent, meter, stage.workload.jobs.size()), stage.sim);
  if (!run) {
    return Failure(run.error());
  }
  return stage.reward.cost_of(summarise(stage.workload, stage.machine, *run));
}

}  // namespace berth
