// Inquiry: asks squeue, which knows ended jobs for a while, what became of jobs that are no longer
// in the queue and have left no record. One call is for many jobs.
#pragma once

#include <functional>
#include <vector>

#include "slurm/batch_books.h"
#include "slurm/slurm_judge.h"
#include "slurm/slurm_means.h"

namespace berth {

class Inquiry {
 public:
  Inquiry(SlurmMeans& means, BatchBooks& books, SlurmJudge& judge)
      : means_(means), books_(books), judge_(judge) {}

  /// False when there is nothing to ask; else `done` follows.
  bool ask(std::function<void()> done);

 private:
  using Names = std::vector<BatchBooks::Name>;

  void take_squeue(const Names& asked, const SlurmAnswer& answer);
  /// Nullptr where the element is not known any more, or is over.
  SlurmBatch* answered(const BatchBooks::Name& name);

  SlurmMeans& means_;
  BatchBooks& books_;
  SlurmJudge& judge_;
};

}  // namespace berth
