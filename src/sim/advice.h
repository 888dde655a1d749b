// Advice: which policy would have served a workload best, and how sure that is.
//
// Each candidate runs the whole workload, so that queues build up as they would have. Then the jobs
// are cut into blocks of neighbours in time. Blocks are drawn at random, with replacement, a
// thousand times, the same blocks for all candidates: how much the differences between policies
// vary from draw to draw is their confidence interval. Jobs of one rush hour stay together, so
// that a single busy day does not count as many independent observations.
#pragma once

#include <string>
#include <vector>

#include "sim/study.h"

namespace berth {

/// The waits of one candidate's jobs, in seconds, in order of submission.
using Waits = std::vector<double>;

/// A change relative to the policy in use: -0.2 is a fifth less. With its 95 % interval.
struct Change {
  double mean = 0;
  double low = 0;
  double high = 0;
};

struct Candidate {
  std::string policy;
  bool preempts = false;  // only the simulator can do that without losing work
  double mean_wait_s = 0;
  double p99_wait_s = 0;
  double longest_wait_s = 0;
  Change mean_change;
  Change p99_change;
};

struct Advice {
  std::string in_use;
  std::string best;    // the policy to use; in_use: keep it
  bool enough = true;  // whether there is enough to go by
  std::size_t jobs = 0;
  std::size_t blocks = 0;
  std::vector<Candidate> candidates;  // the first is the policy in use
  std::string sentence;
};

/// The policies to try beside the one in use. Owners' half-lives matter only where there are
/// several owners.
std::vector<std::string> advised_policies(const std::string& in_use, bool several_owners);

/// Compares the waits of all policies; the first is the one in use. `waits` are by policy.
Advice advise(const std::vector<std::string>& policies, const std::vector<Waits>& waits);

}  // namespace berth
