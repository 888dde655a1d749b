// BatchSender: hands jobs to Slurm. Starts are gathered for a moment, so that jobs with the same
// options and environment become one array. The folder of a batch is on disk before sbatch is
// asked, and tells a later process what may be under way. A second copy of a batch does no harm:
// see wrapper.h.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "slurm/batch_books.h"
#include "slurm/cluster_facts.h"
#include "slurm/queue_watch.h"
#include "slurm/scancels.h"
#include "slurm/slurm_means.h"
#include "slurm/stopper.h"

namespace berth {

class BatchSender {
 public:
  BatchSender(SlurmMeans& means, BatchBooks& books, Scancels& cancels, Stopper& stopper,
              QueueWatch& queue, const ClusterFacts& facts);

  void start(const ShimLaunch& launch);
  /// Whether the job is only gathered yet.
  bool has(JobId job) const;
  /// Takes back a job that is only gathered yet: its attempt's number.
  std::optional<std::uint16_t> take_back(JobId job);

  /// Makes batches of what was gathered, if it is time.
  void form();
  /// Writes and sends batches that are due.
  void send();

 private:
  void form_batch(const ShimLaunch* const* first, const ShimLaunch* const* last,
                  std::vector<std::string> environment);
  void write(const SlurmBatch& batch, std::shared_ptr<const BatchOrder> order);
  void written(SlurmBatch& batch, std::shared_ptr<const BatchOrder> order,
               const std::string& problem);
  void write_again();
  void send(SlurmBatch& batch);
  void sent(SlurmBatch& batch, const SlurmAnswer& answer);
  void accepted(SlurmBatch& batch, const SlurmAnswer& answer);
  void refused(SlurmBatch& batch, const std::string& why);

  SlurmMeans& means_;
  BatchBooks& books_;
  Scancels& cancels_;
  Stopper& stopper_;
  QueueWatch& queue_;
  const ClusterFacts& facts_;
  std::vector<ShimLaunch> gathered_;
  SlurmTime gather_until_ = {};
  /// For want of room, by batch.
  std::map<std::string, std::shared_ptr<const BatchOrder>> unwritten_;
};

}  // namespace berth
