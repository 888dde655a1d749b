// SlurmCaller: the calls of Slurm's commands, one after the other, on a thread of its own. The
// answers come on the owner's thread.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "slurm/chores.h"
#include "slurm/slurm_batch.h"
#include "slurm/slurm_call.h"
#include "slurm/slurm_settings.h"

namespace berth {

class SlurmCaller {
 public:
  using Run = std::function<SlurmAnswer(const SlurmCall&, int stop_fd)>;
  using Answered = std::function<void(const SlurmAnswer&)>;

  SlurmCaller(const SlurmSettings& settings, Run run, Chores::Where where);

  void ask(std::vector<std::string> words, Answered answered);
  /// Hands elements of a batch to sbatch. Its folder tells of that before sbatch is asked, and of
  /// the number that Slurm gave it before anybody is told. An answer NotStarted: sbatch was not
  /// asked.
  void submit(const SlurmBatch& batch, const std::vector<std::uint32_t>& indices,
              Answered answered);

  int event_fd() const { return chores_.event_fd(); }
  /// Gives the answers.
  void finish() { chores_.finish(); }

 private:
  SlurmCall call(std::vector<std::string> words) const;

  const SlurmSettings& settings_;
  Run run_;
  Chores chores_;
};

/// The number that sbatch answers, without the name of the cluster.
std::string number_in_answer(const SlurmAnswer& answer);

}  // namespace berth
