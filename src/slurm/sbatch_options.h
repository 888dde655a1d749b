// What a job asks for, as options of sbatch. Pure. The same jobs give the same options, so that
// they can go into one array.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "core/job_spec.h"
#include "slurm/cluster_facts.h"

namespace berth {

/// What the cluster's entry in the configuration says about every job.
struct ClusterDefaults {
  std::vector<std::string> options;  // "--account=lab"
};

/// A refusal says what cannot be had there. Facts that are not known refuse nothing. Dependencies,
/// start times, retries and warnings are not among the options: berth sees to these itself.
Result<std::vector<std::string>> sbatch_options(const JobSpec& spec,
                                                const ClusterDefaults& defaults,
                                                const ClusterFacts& facts);

/// Whether an option that a user wrote may be passed on: it begins with "--", and is none that
/// berth needs for itself.
Result<void> check_raw_option(const std::string& option);

}  // namespace berth
