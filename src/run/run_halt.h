// RunHalt: how far a run has come to its end before its time, which signals or --halt ask for.
#pragma once

#include "base/fd.h"
#include "drive/driver.h"
#include "run/observer.h"
#include "run/poller.h"
#include "run/run_account.h"
#include "run/run_input.h"
#include "run/run_options.h"

namespace berth {

/// The value of a queued SIGTERM that asks a run to end its jobs as SIGHUP does, also under nohup.
constexpr int kEndAtOnce = 0x62657274;

class RunHalt {
 public:
  /// All are borrowed. `host` tells the time.
  RunHalt(const RunOptions& options, Driver& driver, RunInput& input, RunAccount& account,
          RunObserver& observer, const Host& host);

  /// From here on signals end the run, step by step, instead of this process.
  void watch_signals(Poller& poller);
  /// Ends the run where --halt says so. To be called after each job.
  void check();

  /// Nothing more is started.
  bool has_begun() const { return stage_ != Stage::No; }
  /// Whether the end of a job can be a reason to start nothing more.
  bool may_begin() const { return options_.halt.when != Halt::When::Never && !has_begun(); }

 private:
  enum class Stage { No, StartsNothing, HasAsked, HasKilled };

  void take_signals();
  void go_to(Stage stage);

  const RunOptions& options_;
  Driver& driver_;
  RunInput& input_;
  RunAccount& account_;
  RunObserver& observer_;
  const Host& host_;
  Fd signals_;
  Stage stage_ = Stage::No;
};

}  // namespace berth
