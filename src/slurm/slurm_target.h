// SlurmTarget: runs attempts on a Slurm cluster, by Slurm's own commands. It keeps a folder on a
// file system that the cluster's nodes share; the files in it decide what became of an attempt
// (batch_folder.h, wrapper.h). squeue is asked about all jobs at once, and only tells why they
// wait, and which have gone without a trace.
//
// Everything happens on the owner's thread, except calls of Slurm's commands and of the file
// system, which two threads make. These promises hold whichever process is killed, at any time, on
// this machine or in the cluster:
// - an attempt runs at most once in the folder, however often sbatch is asked. Slurm may run it
//   again only where it is allowed to requeue jobs, and then not beside the copy before;
// - each attempt ends in exactly one AttemptEnd per runner, with the true code or as Lost;
// - a submission that Slurm has lost is found missing, and sent again;
// - while the cluster cannot be reached, attempts wait: nothing is lost or marked failed.
//
// The parts: BatchBooks know what there is, BatchSender hands it in, RecordWatch and QueueWatch
// follow it, Inquiry asks about what left no trace and SlurmJudge decides on it, Stopper ends it.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "exec/shim_runner.h"
#include "slurm/batch_books.h"
#include "slurm/batch_sender.h"
#include "slurm/facts_watch.h"
#include "slurm/queue_watch.h"
#include "slurm/record_watch.h"
#include "slurm/scancels.h"
#include "slurm/slurm_judge.h"
#include "slurm/slurm_means.h"
#include "slurm/slurm_standing.h"
#include "slurm/stopper.h"

namespace berth {

class SlurmTarget final : public ShimRunner {
 public:
  explicit SlurmTarget(SlurmSettings settings, SlurmWorld world = {});
  ~SlurmTarget() override;

  /// Makes the folder.
  Result<void> open();

  std::vector<AttemptStart> adopt() override;
  bool may_have_run(JobId, std::uint16_t, bool started) const override { return started; }
  Result<void> start(const ShimLaunch& launch) override;
  void stop(JobId job, StopSignal signal) override;
  bool pause(JobId job, bool stopped) override {
    stopper_.pause(job, stopped);
    return false;
  }
  void send(JobId job, int signal) override { stopper_.send(job, signal); }
  int event_fd() const override { return events_.get(); }
  std::vector<AttemptStart> take_starts() override;
  std::vector<AttemptEnd> take_ends() override { return books_.take_ends(); }
  void forget(JobId job, std::uint16_t attempt) override;

  bool take_back(JobId job) override;
  std::optional<SlurmStanding> standing(JobId job) const;
  /// As of the last minute or so; not known() before the cluster has answered once.
  const ClusterFacts& facts() const { return facts_.facts(); }
  const SlurmSettings& settings() const { return means_.settings; }
  /// Why the cluster cannot be reached at present; empty: it can.
  const std::string& trouble() const { return queue_.trouble(); }
  /// Calls Slurm on the thread for that, and `answered` on the owner's.
  void ask(std::vector<std::string> words, SlurmCaller::Answered answered);
  /// When take_starts() is due if nothing else happens.
  SlurmTime due() const { return means_.alarm.due(); }

 private:
  void go_on();
  void remove_dropped();

  SlurmMeans means_;
  BatchBooks books_;
  Scancels cancels_;
  Stopper stopper_{means_, books_, cancels_};
  SlurmJudge judge_{means_, books_};
  FactsWatch facts_{means_};
  Inquiry inquiry_{means_, books_, judge_, facts_.facts()};
  QueueWatch queue_{means_, books_, cancels_, inquiry_};
  RecordWatch records_{means_, books_, cancels_, queue_};
  BatchSender sender_{means_, books_, cancels_, stopper_, queue_, facts_.facts()};
  Fd events_;  // of the alarm and both threads
};

}  // namespace berth
