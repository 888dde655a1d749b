// SlurmJudge: carries out what became of jobs that left no record: see slurm_verdict.h.
#pragma once

#include "slurm/batch_books.h"
#include "slurm/slurm_means.h"
#include "slurm/slurm_verdict.h"

namespace berth {

class SlurmJudge {
 public:
  SlurmJudge(SlurmMeans& means, BatchBooks& books) : means_(means), books_(books) {}

  /// `row`: what Slurm knows of the element; nullptr: nothing.
  void judge(SlurmBatch& batch, std::uint32_t index, const SqueueRow* row);

 private:
  void send_again(SlurmBatch& batch, bool lost);
  void end_if_free(SlurmBatch& batch, std::uint32_t index, AttemptEnd over);
  void end_if_unclaimed(SlurmBatch& batch, std::uint32_t index, AttemptEnd over);

  SlurmMeans& means_;
  BatchBooks& books_;
};

}  // namespace berth
