// A checkpoint: all that a scheduler knows, written into its journal, so that everything before it
// may be dropped. A queue of a million jobs is written some at a time, while the scheduler goes on:
// first every job in order of id, then again the jobs that have changed meanwhile, until few are
// left. These are written in one go with all the rest, and the checkpoint is done.
//
// A checkpoint changes no decision: policies keep their books (core/policy.h).
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "drive/journal_rows.h"

namespace berth {

class ToldScheduler;

class CheckpointWriter {
 public:
  /// Watches the scheduler while it lives. A scheduler has one writer at a time.
  CheckpointWriter(Scheduler& scheduler, JournalRows& rows, Time at);
  CheckpointWriter(const CheckpointWriter&) = delete;
  CheckpointWriter& operator=(const CheckpointWriter&) = delete;
  ~CheckpointWriter() { scheduler_.watch(nullptr); }

  /// Writes up to `most` jobs. True when the checkpoint is done, as of `at`. `policy` is the name
  /// by which the policy can be made again.
  bool go_on(std::size_t most, const std::string& policy, Time at);

 private:
  bool walk(std::size_t most, Time at);
  void write_changed(std::size_t most, Time at);

  Scheduler& scheduler_;
  JournalRows& rows_;
  JobChanges changes_;
  bool walked_ = false;
};

/// Reads what a CheckpointWriter wrote, in the same order, and makes a scheduler from it. Any input
/// may come, and input that makes no sense is refused.
class CheckpointReader {
 public:
  /// Takes jobs as they stand.
  void take(const Restored& jobs);
  void take(const JobsGone& gone);
  std::uint64_t jobs() const { return count_; }

  Result<std::unique_ptr<ToldScheduler>> finish(const CheckpointDone& done, Time at) const;

 private:
  std::vector<Restored> rows_;                     // in order of id
  std::map<JobId, std::optional<Restore>> later_;  // written again; empty: gone
  std::uint64_t next_ = 0;                         // the id after the last of the rows
  std::uint64_t count_ = 0;
};

/// Whether the scheduler can be told of this job. A journal may hold anything.
bool can_restore(const Scheduler& scheduler, const Restore& job);

}  // namespace berth
