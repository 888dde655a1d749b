// ShimHost: carries out the driver's decisions, durably. An attempt is on record before its shim
// starts it, and its end is on record before anyone is told.
//
// The driver cannot be made without a host, and the host cannot work without the driver: use()
// connects the two. Owned by the loop's thread.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>

#include "api/loop.h"
#include "daemon/daemon_devices.h"
#include "daemon/desk.h"
#include "daemon/job_files.h"
#include "daemon/usage_log.h"
#include "daemon/watchdog.h"
#include "drive/host.h"
#include "exec/shim_runner.h"
#include "store/records.h"

namespace berth {

/// Callbacks that are told about attempts and devices, or asked about them.
struct HostListeners {
  std::function<void(JobId, Time)> attempt_began;  // the job has been given devices
  std::function<void(const Telemetry::Reading&, Time)> reading;
  /// What an attempt of an earlier daemon has used until now, if known.
  std::function<std::optional<UsageLog>(JobId, std::uint16_t attempt)> used_before;
  std::function<void(JobId, std::uint16_t attempt)> attempt_over;  // called when that is on disk
  std::function<void(JobId, bool over)> output_changed;            // it begins, or is complete
  std::function<void(JobId)> pause_settled;                        // it has stopped, or goes on
  std::function<void(JobId, bool failed)> job_ended;               // called when that is on disk
};

class ShimHost final : public Host {
 public:
  struct Parts {
    Loop& loop;
    Watchdog& watchdog;
    const DaemonClock& clock;
    DaemonLog& log;
    ShimRunner& runner;
    DaemonDevices& devices;
    JobFiles& files;
    std::string mark;  // BERTH_RUN of the jobs
    /// The options for the sbatch of a job's cluster. May be omitted where there are no clusters.
    std::function<Result<std::vector<std::string>>(const JobSpec&)> cluster_options = {};
  };
  explicit ShimHost(Parts parts) : parts_(std::move(parts)) {}
  void use(Desk& desk, HostListeners listeners);

  // --- for a daemon that takes over from the previous one

  /// Takes over an attempt that is on record and has devices.
  void adopt(const StoredAttempt& attempt, const JobRecord& job, const AttemptStart* running);
  /// Starts such an attempt, if no shim ever began it.
  void start_again(const StartJob& start, const StoredAttempt& attempt, const JobRecord& job,
                   Time at);
  void take_end(const AttemptEnd& end, Time at);

  // --- for the loop

  void take_shim_events();
  /// Hands the attempt to its shim. Call it when the beginning of the attempt is on disk, and again
  /// when there is room for it.
  void start_shim(JobId job);

  // --- for the driver

  Time now() const override { return parts_.clock.now(); }
  void watch(int fd, std::string_view what, std::function<void()> readable) override;
  void unwatch(int fd) override { parts_.loop.unwatch(fd); }
  AttemptFacts begin(const StartJob& start, Time at) override;
  void launch(const StartJob& start, Time at) override;
  void stop(const StopJob& stop) override;
  void warn(JobId job) override;
  void ended(const Job& job, const Ended& ended, const DrivenAttempt* attempt, Time at) override;
  void requeued(const JobRequeued& requeued, const DrivenAttempt& attempt, Time at) override;
  void attempt_changed(JobId job) override { desk_->events.job_changed(job); }
  void device_changed(DeviceId device, DeviceHealth before) override;
  void reading_taken(const Telemetry::Reading& reading, Time at) override;
  void blocked(const DeviceLocks::Obstacle& obstacle) override;
  void inform(const std::string& text) override { parts_.log.write("{}", text); }

 private:
  /// What only this host knows about an attempt that has devices; the driver knows the rest.
  struct Attempt {
    int warning_signal = 0;
    std::string stdout_path;
    std::string stderr_path;
    std::optional<ShimLaunch> launch;  // until it is handed to the runner
    Time ended = kNever;               // as its shim reports
    std::optional<std::string> words;  // the end of its output, once it is needed
    bool awaits_words = false;         // its end is settled when `words` have arrived
  };

  Result<ShimLaunch> make_launch(const StartJob& start, const JobRecord& job,
                                 const StoredAttempt& attempt) const;
  void take_start(const AttemptStart& start, Time at);
  void take_use(const AttemptEnd& end);
  bool await_words(const AttemptEnd& end);
  void end_unstarted(JobId job, std::uint16_t attempt, AttemptOver over);
  Ending ending_of(const Ended& ended, JobId job, const DrivenAttempt* attempt) const;

  Parts parts_;
  Desk* desk_ = nullptr;
  HostListeners listeners_;
  std::map<JobId, Attempt> attempts_;
};

}  // namespace berth
