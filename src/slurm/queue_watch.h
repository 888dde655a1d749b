// QueueWatch: asks squeue about all jobs at once, no more often than every two seconds and less
// often where its answer takes long. Every second call may be about jobs that are missing from the
// queue. Knows whether the cluster answers.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "slurm/batch_books.h"
#include "slurm/inquiry.h"
#include "slurm/scancels.h"
#include "slurm/slurm_means.h"

namespace berth {

class QueueWatch {
 public:
  QueueWatch(SlurmMeans& means, BatchBooks& books, Scancels& cancels, Inquiry& inquiry)
      : means_(means), books_(books), cancels_(cancels), inquiry_(inquiry) {}

  /// Asks, if that is due.
  void look();
  /// Something has changed that squeue should be asked about.
  void ask_by(SlurmTime when) { next_ = std::min(next_, when); }
  void ask_soon();

  /// Why the cluster cannot be reached at present; empty: it can.
  const std::string& trouble() const { return trouble_; }
  /// Another call has found so. A look at the queue tells when the cluster answers again.
  void note_trouble(std::string why);

 private:
  void take_queue(const SlurmAnswer& answer, SlurmTime asked);
  bool note_outage(const SlurmAnswer& answer, SlurmTime now);
  bool inquire();

  SlurmMeans& means_;
  BatchBooks& books_;
  Scancels& cancels_;
  Inquiry& inquiry_;
  std::string trouble_;
  bool looking_ = false;
  SlurmTime next_ = {};
  SlurmTime last_ = {};  // when the last call began or ended
  SlurmTime::duration pause_ = {};
  bool inquired_ = false;  // by the last call
};

}  // namespace berth
