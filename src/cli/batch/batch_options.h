// The options of `berth batch`, for its parts: running, queueing and showing.
#pragma once

#include <string>

#include "batch/batch_run.h"
#include "batch/journal.h"
#include "cli/run/run_report.h"
#include "cli/toolkit/args.h"
#include "cli/toolkit/memory_options.h"
#include "cli/toolkit/mps_option.h"
#include "run/run.h"
#include "spec/task.h"

namespace berth {

struct BatchCommand {
  std::string file;
  TaskFormat format;
  BatchOptions batch;
  std::int64_t num = 0;
  std::string gpus;
  std::string ids;  // the file that counts the ids of tasks
  RunOptions run;
  ReportOptions report;
  SharingOptions sharing;
  LineOptions defaults;
  MpsOption mps;
  bool restart = false;
  bool submit = false;
  bool status = false;
  bool json = false;

  void declare(Args& args);
  /// Whether the tasks go to the daemon's queue, and may run on a cluster (--on).
  bool goes_away() const { return run.defaults.needs.away() || !run.defaults.needs.spill.empty(); }
  /// Checks and completes the options. Call it when all options are known.
  Result<void> settle();
  /// The path of the progress file: beside the batch file itself, with links resolved.
  std::string journal() const;
};

/// Waits until the rows that are queued have ended, and tells how.
Result<int> await_batch(BatchJournal& journal);

/// Queues the pending rows and prints their job numbers.
Result<int> submit_batch(const BatchCommand& command, const std::vector<Task>& tasks,
                         BatchJournal& journal);

/// Prints the progress of the file.
Result<int> show_batch(const BatchCommand& command, const std::vector<Task>& tasks);

}  // namespace berth
