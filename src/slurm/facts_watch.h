// FactsWatch: learns what a cluster is made of, about once a minute.
#pragma once

#include "slurm/cluster_facts.h"
#include "slurm/slurm_means.h"

namespace berth {

class FactsWatch {
 public:
  explicit FactsWatch(SlurmMeans& means) : means_(means) {}

  /// As of the last minute or so; not known() before the cluster has answered once.
  const ClusterFacts& facts() const { return facts_; }
  bool asked() const { return next_ != SlurmTime{}; }
  /// Asks, if that is due.
  void learn();

 private:
  void learn_partitions();
  void learn_config();

  SlurmMeans& means_;
  ClusterFacts facts_;
  bool learning_ = false;
  SlurmTime next_ = {};
};

}  // namespace berth
