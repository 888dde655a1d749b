// Stopper: ends, pauses and signals jobs that have been handed to Slurm. A job that waits there is
// claimed by berth, so that it never runs, whatever becomes of Slurm.
#pragma once

#include "slurm/batch_books.h"
#include "slurm/scancels.h"
#include "slurm/slurm_means.h"

namespace berth {

class Stopper {
 public:
  Stopper(SlurmMeans& means, BatchBooks& books, Scancels& cancels)
      : means_(means), books_(books), cancels_(cancels) {}

  // Jobs that are not known or are over are left alone.
  void stop(JobId job, StopSignal signal);
  void pause(JobId job, bool stopped);
  void send(JobId job, int signal);
  /// See ShimRunner::take_back().
  bool take_back(JobId job);

 private:
  void signal_running(JobId job, const std::string& how);
  void withdraw_waiting(const BatchPlace& place);

  SlurmMeans& means_;
  BatchBooks& books_;
  Scancels& cancels_;
};

}  // namespace berth
