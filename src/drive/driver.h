// Driver: the one live driver of the scheduler. World events become inputs of the scheduler, and
// the scheduler's decisions become calls on the host. The driver owns the scheduler, the devices
// with their locks and readings, MPS, and what is learned about memory. Owned by one thread. It
// starts no process, and writes no file of its own except the record of what jobs have used.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/forecast.h"
#include "drive/host.h"
#include "drive/live_devices.h"
#include "drive/memory_lessons.h"
#include "drive/mps_starts.h"
#include "drive/told_scheduler.h"
#include "gpu/job_environment.h"

namespace berth {

struct DriverOptions {
  std::string policy = "priority";  // as a user names it
  Scheduler::Config config;
  std::string peaks;  // the file of what jobs have used; empty: nothing is learned
  std::string mark;   // BERTH_RUN of our jobs
  Mps::Owner mps;
  Duration sample_interval = std::chrono::seconds(1);
  bool measure_power = true;          // of devices, before they are used
  std::size_t claims_at_once = 1000;  // changed between two decisions
  ToldScheduler::Journal journal;     // empty: nothing is recorded
};

class Driver {
 public:
  /// `devices` may grow: see add_devices(). Fails if the policy does not exist or cannot run live.
  static Result<std::unique_ptr<Driver>> make(DriverOptions options, Devices& devices, Host& host);

  /// The scheduler. Tell it what users want; the driver tells it what happens to attempts and
  /// devices.
  ToldScheduler& scheduler() { return scheduler_; }
  const Scheduler& view() const { return scheduler_.get(); }
  LiveDevices& devices() { return devices_; }
  const LiveDevices& devices() const { return devices_; }
  MemoryLessons& memory() { return memory_; }
  const MemoryLessons& memory() const { return memory_; }
  MpsStarts& mps() { return mps_; }

  /// Devices have joined the list.
  void add_devices();
  Result<void> set_policy(const std::string& policy, Placement placement, Time at);
  /// The policy in charge, as a user names it.
  const std::string& policy() const { return options_.policy; }

  /// Lets the scheduler decide, and the host act, until nothing is left to decide at this time.
  void decide(Time at);
  /// Whether decide() has something to do now.
  bool is_due(Time at) const;
  /// Gives back device locks and MPS daemons that are no longer used. Call it when everything that
  /// happened at a time has been decided.
  void settle();
  Time wake_at() const { return view().wake_at(); }

  /// What berth adds to an attempt's environment, beyond what the user wants there.
  EnvironmentChanges environment(const StartJob& start, std::string_view name,
                                 std::string_view project, std::int64_t began_at) const;

  /// The process of an attempt exists.
  void started(JobId job, pid_t pid, std::string cgroup, Time at);
  /// Whether over() needs to know what this attempt printed last.
  bool asks_for_output(const AttemptOver& over) const;
  /// An attempt is over. The next decide() decides its job's next state. If the attempt ran out of
  /// memory, that waits for a reading that tells why.
  void over(AttemptOver over, Time at);
  /// Takes over an attempt that an earlier process began; the scheduler knows of it already.
  /// `peaks`: the most that it has used of each of its devices; empty when unknown.
  void adopt(JobId job, DrivenAttempt attempt, std::span<const Bytes> peaks = {});
  /// Launches the attempt when everything that it needs is there. A host calls it for attempts that
  /// an earlier process recorded but did not launch.
  void launch(const StartJob& start, Time at);
  /// Drops the attempts that still wait for MPS. Their jobs keep waiting as if they had not been
  /// given devices.
  void drop_unlaunched(Time at);

  const DrivenAttempt* attempt(JobId job) const;
  const std::map<JobId, DrivenAttempt>& attempts() const { return attempts_; }

 private:
  Driver(DriverOptions options, std::unique_ptr<Policy> policy, Devices& devices, Host& host);

  /// An attempt that ran out of memory. A reading that began after its end will tell why.
  struct Complaint {
    AttemptOver over;
    std::uint64_t asked;  // the number of that reading
  };

  void act(const StartJob& action, Time at);
  void act(const StopJob& action, Time at);
  void act(const WarnJob& action, Time at);
  void act(const JobEnded& action, Time at);
  void act(const JobRequeued& action, Time at);
  static void act(const PreemptJob&, Time) {}  // policies that preempt are not allowed
  void fail_start(const StartJob& start, const std::string& why, Time at);
  void conclude(const AttemptOver& over, Time at);
  void forget(JobId job);
  void take_reading(const Telemetry::Reading& reading, Time at);

  DriverOptions options_;
  Host& host_;
  ToldScheduler scheduler_;
  LiveDevices devices_;
  MemoryLessons memory_;
  MpsStarts mps_;
  std::map<JobId, DrivenAttempt> attempts_;
  std::vector<Complaint> complaints_;
  Time last_reading_{};
  bool decide_again_ = false;  // a start of this decision was not carried out
};

}  // namespace berth
