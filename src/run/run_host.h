// RunHost: carries out what the driver decides, with children of this process. What becomes of each
// job goes to the observer, the account and the joblog.
//
// The driver needs a host to be made, and the host needs the driver to work: use() brings the two
// together.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "drive/driver.h"
#include "exec/runner.h"
#include "gpu/devices.h"
#include "gpu/locks/device_locks.h"
#include "run/joblog.h"
#include "run/observer.h"
#include "run/outputs.h"
#include "run/poller.h"
#include "run/run_account.h"
#include "run/run_jobs.h"
#include "run/run_options.h"
#include "run/run_turns.h"
#include "run/wait_notices.h"

namespace berth {

class RunHost final : public Host {
 public:
  struct Parts {
    const RunOptions& options;
    const Devices& devices;
    DeviceLocks* locks;  // none: nobody else uses the devices, or nothing is started
    Runner& runner;
    RunObserver& observer;
    Poller& poller;
    RunAccount& account;
  };
  explicit RunHost(Parts parts);
  /// `job_ended`: called after each job that has reached its final state.
  void use(Driver& driver, RunJobs& jobs, std::function<void()> job_ended);

  /// Opens the joblog and the folder for outputs.
  Result<void> open_files();
  /// Children have ended.
  void take_exits();
  /// Where jobs work in turn: stops those whose turn is over, and lets others go on.
  void take_turns(Time at);
  Time next_turn() const { return turns_.next(); }
  /// Tells the user why jobs wait.
  void tell_waits(Time at) { notices_.tell(driver_->view(), at); }
  /// Bytes that could not be written to logs.
  std::uint64_t lost_output() const { return outputs_.lost(); }

  // --- for the driver

  Time now() const override;
  void watch(int fd, std::string_view what, std::function<void()> readable) override;
  void unwatch(int fd) override { parts_.poller.remove(fd); }
  AttemptFacts begin(const StartJob& start, Time at) override;
  void launch(const StartJob& start, Time at) override;
  void stop(const StopJob& stop) override;
  void warn(JobId) override {}  // lines have no option for it
  void ended(const Job& job, const Ended& ended, const DrivenAttempt* attempt, Time at) override;
  void requeued(const JobRequeued& requeued, const DrivenAttempt& attempt, Time at) override;
  void attempt_changed(JobId) override {}
  void device_changed(DeviceId device, DeviceHealth before) override;
  void reading_taken(const Telemetry::Reading& reading, Time at) override;
  void blocked(const DeviceLocks::Obstacle& obstacle) override { notices_.blocked(obstacle); }
  void inform(const std::string& text) override { parts_.observer.warning(text); }

 private:
  /// Of an attempt that runs, what only this host knows.
  struct Child {
    double wall_started = 0;  // seconds since 1970
    int start_error = 0;      // errno
  };

  void log_end(JobId id, const Child& child, const DrivenAttempt& attempt, const Ended& ended,
               std::uint64_t output_bytes);
  JobEvent event(JobId id, const DrivenAttempt& attempt) const;
  void keep_order(Launch& launch, std::span<const DeviceId> devices);

  Parts parts_;
  JobOutputs outputs_;
  WaitNotices notices_;
  RunTurns turns_;
  std::optional<Joblog> joblog_;
  Driver* driver_ = nullptr;
  RunJobs* jobs_ = nullptr;
  std::function<void()> job_ended_;
  std::map<JobId, Child> children_;
  bool told_order_ = false;  // that jobs have another CUDA_DEVICE_ORDER than the user's
};

}  // namespace berth
