// Study: compares policies on workloads. Every policy runs every workload with every placement. The
// runs share nothing and use all cores.
#pragma once

#include <functional>
#include <span>
#include <string>

#include "policy/policies.h"
#include "sim/summary.h"

namespace berth {

/// One policy and placement to try on each workload.
struct Contender {
  std::string policy;  // `oracle:NAME` is told the true lengths
  Placement placement = kUsualPlacement;
};

/// One workload, with the seed for all random draws in its runs.
struct Trial {
  Workload workload;
  std::uint64_t seed = 1;
};

struct StudyOptions {
  SimOptions sim;
  PolicyOptions policy;
  double estimate_error = 0;
  Estimated estimated = Estimated::All;
  unsigned threads = 0;  // 0: as many as there are cores
};

/// Called at the end of each run of a contender on a trial. Calls come from several threads, one at
/// a time.
using RunSeen = std::function<void(std::size_t contender, std::size_t trial, const SimRun& run)>;

/// The figures by contender and trial.
Result<std::vector<std::vector<Summary>>> run_study(const std::vector<Contender>& contenders,
                                                    const std::vector<Trial>& trials,
                                                    const Machine& machine,
                                                    const StudyOptions& options,
                                                    const RunSeen& seen);

/// A figure of a Summary, with its name in tables and JSON.
struct Figure {
  std::string_view name;
  double (*of)(const Summary&);
};
std::span<const Figure> figures();

/// The mean over runs, and half the width of its 95 % confidence interval (0 for a single run).
struct Estimate {
  double mean = 0;
  double half_width = 0;
};
Estimate estimate(const std::vector<Summary>& runs, const Figure& figure);
Estimate estimate(const std::vector<double>& values);

}  // namespace berth
