// RecordWatch: follows the records that jobs write themselves. They are looked at often, because a
// look costs little where nothing has changed.
#pragma once

#include "slurm/batch_books.h"
#include "slurm/queue_watch.h"
#include "slurm/scancels.h"
#include "slurm/slurm_means.h"

namespace berth {

class RecordWatch {
 public:
  RecordWatch(SlurmMeans& means, BatchBooks& books, Scancels& cancels, QueueWatch& queue)
      : means_(means), books_(books), cancels_(cancels), queue_(queue) {}

  /// Looks, if that is due.
  void look();
  void take(const BatchFiles::Records& records);

 private:
  SlurmMeans& means_;
  BatchBooks& books_;
  Scancels& cancels_;
  QueueWatch& queue_;
  bool looking_ = false;
  SlurmTime next_ = {};
};

}  // namespace berth
