// The folder of a batch: jobs that are handed to sbatch together. It is on a file system that the
// cluster's nodes share, and it is what berth knows of the batch after a restart:
//
//   elements      a line for each job, see wrapper.h
//   options       for sbatch, one a line
//   environment   of the jobs, with a NUL after each variable
//   sent          how often sbatch was asked, and the number that Slurm gave the batch
//   confirmed     is there once Slurm has been seen to have saved the batch
//   c/, x/        the records of its jobs, see wrapper.h
//
// Calls may take long where the file system is slow: they are for a thread that may wait.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "slurm/wrapper.h"

namespace berth {

/// What is written once.
struct BatchOrder {
  std::vector<WrappedJob> jobs;
  std::vector<std::string> options;
  std::vector<std::string> environment;
};

/// The folder appears with everything in it and on disk, or not at all.
Result<void> write_batch(const std::string& folder, const BatchOrder& order);

struct BatchSent {
  int send = 0;
  std::string id;  // empty: Slurm's answer is not known
};
Result<void> write_sent(const std::string& folder, const BatchSent& sent);
void write_confirmed(const std::string& folder);

/// A batch of an earlier process.
struct FoundBatch {
  std::vector<std::pair<std::uint64_t, std::uint16_t>> jobs;  // and their attempts
  std::vector<std::string> options;
  std::vector<std::string> environment;
  std::optional<BatchSent> sent;
  bool confirmed = false;
};
std::optional<FoundBatch> read_batch(const std::string& folder);
void remove_batch(const std::string& folder);

/// Claims a job that is not wanted any more. False when a copy of it has started, or may have.
bool withdraw(const std::string& folder, std::uint32_t index);
/// Whether no process of the job holds the lock on its claim.
bool lock_is_free(const std::string& folder, std::uint32_t index);

/// Finds new records in the folders of batches. One look costs little where nothing has changed.
class RecordScout {
 public:
  struct Found {
    std::string folder;
    std::uint32_t index = 0;
    std::optional<ClaimRecord> claim = {};
    std::optional<ExitRecord> exit = {};
  };

  void add(const std::string& folder) { folders_[folder]; }
  void drop(const std::string& folder) { folders_.erase(folder); }
  /// What was not found before. A claim comes before the end of its job.
  std::vector<Found> look();

 private:
  struct Side {
    std::int64_t changed = 0;  // when the directory last did, as far as that is known
    std::set<std::uint32_t> known = {};
  };
  struct Folder {
    Side claims = {};
    Side exits = {};
  };

  template <class Take>
  static void look_into(const std::string& directory, Side& side, Take take);

  std::map<std::string, Folder> folders_;
};

}  // namespace berth
