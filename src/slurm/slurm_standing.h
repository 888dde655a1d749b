// How an attempt stands in a cluster.
#pragma once

#include <string>

namespace berth {

struct SlurmStanding {
  bool pending = false;  // it has not started
  std::string why;       // if so
  std::string id;        // in Slurm; empty: none yet
  std::string node;      // if it runs
  std::string gpus;      // of that node, as CUDA_VISIBLE_DEVICES has them
};

}  // namespace berth
