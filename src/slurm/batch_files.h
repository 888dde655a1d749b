// BatchFiles: the folder that the nodes share, which may be slow: a thread of its own reads and
// writes there, and the answers come on the owner's thread, in the order of the questions.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "slurm/batch_folder.h"
#include "slurm/chores.h"

namespace berth {

class BatchFiles {
 public:
  explicit BatchFiles(Chores::Where where) : chores_(where) {}

  /// `problem`: why the folder could not be written; empty: it is there, and looked at.
  void write(const std::string& folder, std::shared_ptr<const BatchOrder> order,
             std::function<void(const std::string& problem)> done);
  void confirm(const std::string& folder);
  /// Lets a running job's script tell the end that berth asks for from a requeue.
  void mark_stop(const std::string& folder, std::uint32_t index);
  /// See withdraw().
  void withdraw(const std::string& folder, std::uint32_t index, std::function<void(bool)> done);
  /// See lock_is_free().
  void try_lock(const std::string& folder, std::uint32_t index, std::function<void(bool)> done);
  /// Removes the folder, and looks at it no more.
  void remove(const std::string& folder);

  using Records = std::vector<RecordScout::Found>;
  /// Finds what is new in the folders.
  void look(std::function<void(const Records&, std::chrono::nanoseconds took)> done);
  /// Of folders that an earlier process has left. Only before anything else is asked.
  Records adopt(const std::vector<std::string>& folders);

  int event_fd() const { return chores_.event_fd(); }
  /// Gives the answers.
  void finish() { chores_.finish(); }

 private:
  RecordScout scout_;  // used by the thread
  Chores chores_;
};

}  // namespace berth
