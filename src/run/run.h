// Run: what is behind `berth run`. Jobs come in (RunInput), the driver decides, children of this
// process run them (RunHost), until all is done or the run is halted (RunHalt). One thread and one
// loop; it decides nothing itself and keeps nothing on disk but the joblog.
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
  /// `locks` are for the devices of `devices`; none: nobody else uses them, or nothing is started.
  Run(RunOptions options, Devices& devices, DeviceLocks* locks, Runner& runner,
      RunObserver& observer);

  /// Runs everything. An error means that nothing was started.
  Result<RunSummary> execute(Input input);

  /// Reads everything and submits it, but starts nothing: calls `visit` for each job.
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
