// How users name a cluster, and what they say about it: see cluster_config.h.
#pragma once

#include <chrono>
#include <functional>
#include <string>

#include "slurm/sbatch_options.h"

namespace berth {

struct SlurmSettings {
  std::string name;    // as users name the cluster
  std::string folder;  // that the nodes share
  std::string bin;     // where Slurm's commands are; empty: by PATH
  std::string conf;    // its slurm.conf; empty: as the environment or Slurm itself says
  ClusterDefaults defaults = {};
  std::chrono::milliseconds patience = std::chrono::seconds(30);  // for a call of sbatch
  std::function<void(const std::string&)> log = {};
};

}  // namespace berth
