// How an attempt stands in a cluster.
#pragma once

#include <string>

#include "slurm/slurm_batch.h"

namespace berth {

struct SlurmStanding {
  bool pending = false;  // it has not started
  std::string why;       // if so
  std::string id;        // in Slurm; empty: none yet
  std::string node;      // if it runs
  std::string gpus;      // of that node, as CUDA_VISIBLE_DEVICES has them
};

/// `trouble`: why the cluster cannot be reached; empty: it can.
SlurmStanding standing_of(const BatchPlace& place, const std::string& trouble);

}  // namespace berth
