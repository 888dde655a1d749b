// What a cluster must start, made from a job's record.
#pragma once

#include <string>
#include <vector>

#include "exec/shim_runner.h"
#include "store/records.h"

namespace berth {

/// `spec`: what the job asks for by now. `options`: the same for the cluster's sbatch. `mark` is
/// the value of BERTH_RUN.
ShimLaunch cluster_launch(const JobSpec& spec, const JobRecord& job, const StoredAttempt& attempt,
                          std::vector<std::string> options, const std::string& mark);

}  // namespace berth
