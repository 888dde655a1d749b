// Run: the loop behind `berth run`. RunInput reads jobs, the driver decides, and RunHost runs jobs
// as children of this process, until all jobs are done or RunHalt ends the run early. It has one
// thread and one loop. It decides nothing itself and keeps nothing on disk but the joblog.
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "drive/driver.h"
#include "exec/runner.h"
#include "gpu/devices.h"
#include "gpu/locks/device_locks.h"
#include "run/input.h"
#include "run/observer.h"
#include "run/poller.h"
#include "run/run_account.h"
#include "run/run_halt.h"
#include "run/run_host.h"
#include "run/run_input.h"
#include "run/run_jobs.h"
#include "run/run_options.h"

namespace berth {

class Run {
 public:
  /// `locks` are for the devices of `devices`; null if no other process uses the devices or nothing
  /// is started.
  Run(RunOptions options, Devices& devices, DeviceLocks* locks, Runner& runner,
      RunObserver& observer);

  /// Runs all jobs. An error means that nothing was started.
  Result<RunSummary> execute(Input input);

  /// Reads and submits all jobs, but starts none. Calls `visit` for each job.
  Result<void> rehearse(Input input,
                        const std::function<void(const JobLine&, const Needs&)>& visit);

 private:
  /// Makes the driver and what needs one.
  Result<void> prepare();
  void watch_everything();
  void loop();
  bool finished() const;
  void act(Time at);
  void take_closed_devices();

  RunOptions options_;
  Devices& devices_;
  DeviceLocks* locks_;
  Runner& runner_;
  RunObserver& observer_;
  Poller poller_;
  RunAccount account_;
  RunHost host_;
  std::unique_ptr<Driver> driver_;
  std::optional<RunJobs> jobs_;
  std::optional<RunInput> input_;
  std::optional<RunHalt> halt_;
  Time last_redraw_{};
};

}  // namespace berth
