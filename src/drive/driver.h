// Driver: the one live driver of the scheduler. World events become inputs of the scheduler, and
// the scheduler's decisions become calls on the host. The driver owns the scheduler, the devices
// with their readings, MPS, what is learned about memory and lengths, and the attempts that have
// devices. Owned by one thread. It writes no file of its own except the record of what jobs have
// used.
#pragma once

#include <memory>
#include <string>

#include "drive/driven_attempts.h"
#include "drive/host.h"
#include "drive/length_lessons.h"
#include "drive/live_devices.h"
#include "drive/memory_lessons.h"
#include "drive/mps_starts.h"
#include "drive/told_scheduler.h"

namespace berth {

struct DriverOptions {
  std::string policy = "priority";  // as a user names it
  std::string trouble;              // why it is not the one that was chosen; empty: it is
  Scheduler::Config config;
  std::string peaks;                // the file of what jobs have used; empty: nothing is learned
  double oom_risk = kUsualOomRisk;  // how often a job may use more than its learned claim
  std::string mark;                 // BERTH_RUN of our jobs
  Mps::Owner mps;
  Duration sample_interval = std::chrono::seconds(1);
  bool measure_power = true;          // of devices, before they are used
  std::size_t claims_at_once = 1000;  // and lengths: changed between two decisions
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
  LengthLessons& lengths() { return lengths_; }
  const LengthLessons& lengths() const { return lengths_; }
  /// Whether more is known about waiting jobs than the scheduler was told.
  bool behind() const { return memory_.behind() || lengths_.behind(); }
  MpsStarts& mps() { return mps_; }
  DrivenAttempts& attempts() { return attempts_; }
  const DrivenAttempts& attempts() const { return attempts_; }

  /// Devices have joined the list.
  void add_devices();
  Result<void> set_policy(const std::string& policy, Placement placement, Time at);
  /// The policy in charge, as a user names it.
  const std::string& policy() const { return options_.policy; }
  /// Why priority is in charge instead of the policy that was chosen; empty: it is not.
  const std::string& trouble() const { return trouble_; }

  /// Lets the scheduler decide, and the host act, until nothing is left to decide at this time.
  void decide(Time at);
  /// Whether decide() has something to do now.
  bool is_due(Time at) const;
  /// Gives back device locks and MPS daemons that are no longer used. Call it when everything that
  /// happened at a time has been decided.
  void settle();
  Time wake_at() const { return view().wake_at(); }

 private:
  Driver(DriverOptions options, std::unique_ptr<Policy> policy, Devices& devices, Host& host);

  /// A model that errs is no longer asked: priority decides.
  void watch_model(Time at);
  void take_reading(const Telemetry::Reading& reading, Time at);

  DriverOptions options_;
  Host& host_;
  ToldScheduler scheduler_;
  LiveDevices devices_;
  LengthLessons lengths_;
  MemoryLessons memory_;
  MpsStarts mps_;
  DrivenAttempts attempts_;
  std::string trouble_;
  std::string seen_refusal_;
};

}  // namespace berth
