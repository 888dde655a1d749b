// Run: the host behind `berth run`. It reads jobs, runs those that the driver starts as its own
// children, and tells the driver which have ended, until all jobs are done. It has one thread and
// one loop. It decides nothing itself and keeps nothing on disk but the joblog.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "drive/driver.h"
#include "exec/runner.h"
#include "gpu/devices.h"
#include "gpu/locks/device_locks.h"
#include "run/input.h"
#include "run/joblog.h"
#include "run/observer.h"
#include "run/outputs.h"
#include "run/poller.h"
#include "run/run_account.h"
#include "run/run_jobs.h"
#include "run/run_options.h"
#include "run/wait_notices.h"

namespace berth {

class Run : private Host {
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
  /// How far the early end of a run has progressed.
  enum class Halting { No, StartsNothing, HasAsked, HasKilled };

  /// What only this host knows about a running attempt.
  struct Child {
    double wall_started = 0;  // seconds since 1970
    int start_error = 0;      // errno
  };

  // Jobs coming in (run_input.cc).
  Result<void> prepare();
  Result<void> open_input(Input input);
  Result<void> read_everything(Input& input);
  void read_some_input();
  Result<void> submit(JobLine line);
  void close_input();

  // The loop (run.cc).
  void watch_everything();
  void loop();
  bool finished() const;
  void act(Time at);
  void take_exits();
  void take_closed_devices();
  void take_signals();
  void check_halt();
  void halt(Halting how_far);
  void log_end(JobId id, const Child& child, const DrivenAttempt& attempt, const Ended& ended,
               std::uint64_t output_bytes);
  JobEvent event(JobId id, const DrivenAttempt& attempt) const;

  // Requests of the driver (run_host.cc).
  Time now() const override;
  void watch(int fd, std::string_view what, std::function<void()> readable) override;
  void unwatch(int fd) override;
  AttemptFacts begin(const StartJob& start, Time at) override;
  void launch(const StartJob& start, Time at) override;
  void stop(const StopJob& stop) override;
  void warn(JobId) override {}  // job lines have no option for it
  void ended(const Job& job, const Ended& ended, const DrivenAttempt* attempt, Time at) override;
  void requeued(const JobRequeued& requeued, const DrivenAttempt& attempt, Time at) override;
  void attempt_changed(JobId) override {}
  void device_changed(DeviceId device, DeviceHealth before) override;
  void reading_taken(const Telemetry::Reading& reading, Time at) override;
  void blocked(const DeviceLocks::Obstacle& obstacle) override { notices_.blocked(obstacle); }
  void inform(const std::string& text) override { observer_.warning(text); }

  RunOptions options_;
  Devices& devices_;
  DeviceLocks* locks_;
  Runner& runner_;
  RunObserver& observer_;
  Poller poller_;
  JobOutputs outputs_;
  RunAccount account_;
  WaitNotices notices_;
  std::optional<Joblog> joblog_;
  std::unique_ptr<Driver> driver_;
  std::optional<RunJobs> jobs_;
  std::optional<Input> input_;
  std::map<JobId, Child> children_;
  Fd signals_;
  Time last_redraw_{};
  Halting halting_ = Halting::No;
};

}  // namespace berth
