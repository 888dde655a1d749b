// RunInput: how jobs come into a run: all before it begins, or line by line while others run.
#pragma once

#include <functional>
#include <optional>

#include "drive/host.h"
#include "run/input.h"
#include "run/observer.h"
#include "run/poller.h"
#include "run/run_account.h"
#include "run/run_jobs.h"
#include "run/run_options.h"

namespace berth {

class RunInput {
 public:
  /// All are borrowed. `host` tells the time, and hears of jobs that end before they are queued.
  RunInput(const RunOptions& options, RunJobs& jobs, RunAccount& account, RunObserver& observer,
           Poller& poller, Host& host);

  /// Queues the jobs of an input that has all of them; one that may keep us waiting is read while
  /// the run goes on. The first wrong line of what is read here means that nothing is to run.
  Result<void> open(Input input);
  /// Queues all jobs, and calls `visit` after each.
  Result<void> rehearse(Input& input, const std::function<void(const JobLine&)>& visit);

  /// Whether more jobs may come.
  bool is_open() const { return input_.has_value(); }
  void close();

 private:
  Result<void> read_everything(Input& input);
  void read_some();
  Result<void> submit(JobLine line);

  const RunOptions& options_;
  RunJobs& jobs_;
  RunAccount& account_;
  RunObserver& observer_;
  Poller& poller_;
  Host& host_;
  std::optional<Input> input_;
};

}  // namespace berth
