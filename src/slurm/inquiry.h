// Inquiry: asks what became of jobs that are no longer in the queue and have left no record:
// squeue, which knows ended jobs for a while, and then sacct, where the cluster has accounting
// storage. One call of each is for many jobs.
#pragma once

#include <functional>
#include <vector>

#include "slurm/batch_books.h"
#include "slurm/cluster_facts.h"
#include "slurm/slurm_judge.h"
#include "slurm/slurm_means.h"

namespace berth {

class Inquiry {
 public:
  Inquiry(SlurmMeans& means, BatchBooks& books, SlurmJudge& judge, const ClusterFacts& facts)
      : means_(means), books_(books), judge_(judge), facts_(facts) {}

  /// False when there is nothing to ask; else `done` follows.
  bool ask(std::function<void()> done);

 private:
  using Names = std::vector<BatchBooks::Name>;

  void take_squeue(const Names& asked, const SlurmAnswer& answer,
                   const std::function<void()>& done);
  void take_sacct(const Names& asked, const SlurmAnswer& answer);
  bool wants_sacct(const SlurmBatch& batch, std::uint32_t index) const;
  /// Nullptr where the element is not known any more, or is over.
  SlurmBatch* answered(const BatchBooks::Name& name);

  SlurmMeans& means_;
  BatchBooks& books_;
  SlurmJudge& judge_;
  const ClusterFacts& facts_;
};

}  // namespace berth
