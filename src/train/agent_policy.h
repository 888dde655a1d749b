// The policy of an agent: it shows the agent what waits and what is free, and proposes what the
// agent chooses. The scheduler checks that as it checks every proposal.
//
// An agent is asked only when a job fits. One that waits although nothing runs and nobody else will
// come gets the first job that fits started: no episode lasts for ever.
#pragma once

#include <memory>

#include "core/policy.h"
#include "train/agent.h"
#include "train/cost_meter.h"

namespace berth {

/// Borrows the agent and the meter. `jobs`: how many will come.
std::unique_ptr<Policy> make_agent_policy(Agent& agent, CostMeter& meter, std::size_t jobs);

}  // namespace berth
