// BatchBooks: which batches there are, how each of their elements stands, and what the records and
// squeue say about them. Pure: it is told the time, and asks nobody. Owned by SlurmTarget.
//
// A job's newest attempt is the one that counts. An attempt has at most one start and one end here.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "slurm/batch_folder.h"
#include "slurm/slurm_batch.h"
#include "slurm/squeue_table.h"

namespace berth {

class BatchBooks {
 public:
  using Batches = std::map<std::string, std::unique_ptr<SlurmBatch>>;
  /// The name of a batch and the index of an element.
  using Name = std::pair<std::string, std::uint32_t>;

  /// What the names of this folder's batches begin with, so that those of others are left alone.
  void set_prefix(std::string prefix) { prefix_ = std::move(prefix); }
  const std::string& prefix() const { return prefix_; }

  /// The elements of an added batch wait, and nobody has forgotten them.
  SlurmBatch& add(std::unique_ptr<SlurmBatch> batch);
  const Batches& batches() const { return batches_; }
  SlurmBatch* find(const std::string& name) const;
  /// The newest attempt of a job.
  BatchPlace find(JobId job) const;

  /// Ends an element, unless it is over already.
  void end(SlurmBatch& batch, std::uint32_t index, AttemptEnd over);
  /// The end of an attempt that is in no batch yet.
  void end(AttemptEnd over) { ends_.push_back(std::move(over)); }
  void forget(JobId job, std::uint16_t attempt);
  /// A batch of which nobody wants to know anything goes, unless a call for it is under way.
  void drop_if_done(SlurmBatch& batch);

  /// What follows from a new record.
  struct Noted {
    bool cancel = false;  // its job is to be told again that it is not wanted
    bool ask = false;     // the end was a signal: Slurm may know why
  };
  Noted note(SlurmBatch& batch, const RecordScout::Found& found, SlurmTime now);

  /// What follows from the queue.
  struct Settled {
    std::vector<std::string> unwanted;   // jobs of Slurm's, to be cancelled
    std::vector<std::string> confirmed;  // folders of batches that Slurm has saved
  };
  /// `asked`: when squeue was. Batches that Slurm does not know after all are to be sent again.
  Settled settle(const std::vector<SqueueRow>& rows, SlurmTime asked);
  /// Whether something may change in the queue that matters here.
  bool any_open() const;
  /// Whether something hangs on the next answer.
  bool any_missing() const;
  /// Elements that are no longer in the queue and have left no record; at most `most`.
  std::vector<Name> missing(SlurmTime now, std::size_t most) const;

  std::vector<AttemptStart> take_starts() { return std::exchange(starts_, {}); }
  std::vector<AttemptEnd> take_ends() { return std::exchange(ends_, {}); }
  /// The folders of batches that were dropped.
  std::vector<std::string> take_dropped() { return std::exchange(dropped_, {}); }

 private:
  void keep_place(SlurmBatch& batch, std::uint32_t index);
  static void leave(SlurmBatch& batch, std::uint32_t index);
  static void settle(SlurmBatch& batch, const std::vector<const SqueueRow*>& rows, SlurmTime asked,
                     Settled& settled);
  static void settle_row(SlurmBatch& batch, const SqueueRow& row, SlurmTime asked,
                         std::vector<bool>& seen, Settled& settled);

  std::string prefix_;
  Batches batches_;
  std::map<JobId, BatchPlace> jobs_;  // the newest attempt of each job that is not forgotten
  std::vector<AttemptStart> starts_;
  std::vector<AttemptEnd> ends_;
  std::vector<std::string> dropped_;
};

/// The end that a record of a job's tells.
AttemptEnd end_by_record(const ExitRecord& record);

}  // namespace berth
