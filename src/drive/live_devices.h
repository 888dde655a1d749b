// LiveDevices: the devices of a live scheduler. It leases them from other berth instances of the
// machine, watches what is used of them, and tells the scheduler when one is lost, drained, taken
// by another instance or free again. Owned by the driver's thread.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "drive/host.h"
#include "drive/told_scheduler.h"
#include "gpu/devices.h"
#include "gpu/job_environment.h"
#include "gpu/locks/device_locks.h"
#include "gpu/telemetry/telemetry.h"

namespace berth {

/// What is known of a device beyond the scheduler's table.
struct DeviceState {
  bool drained = false;  // the user's wish
  bool removed = false;  // likewise
  bool lost = false;     // the driver's word
  std::optional<DeviceSample> sample;
  DeviceUse use;
  bool had_jobs = false;  // since the last reading
};

class LiveDevices {
 public:
  /// `devices` may grow: see add_new(). `mark`: the value of BERTH_RUN that tells our jobs'
  /// processes from others'.
  LiveDevices(ToldScheduler& scheduler, Host& host, Devices& devices, std::string mark,
              Duration sample_interval);

  /// Tells the scheduler of the devices that have joined the list. `measure_power`: what they are
  /// expected to draw is worth asking the drivers for.
  void add_new(bool measure_power);

  /// From here on devices are leased through these; not owned. None: nobody else uses them.
  void use_locks(DeviceLocks* locks);
  /// False when the job must wait: another instance has one of its devices, or a lock cannot be
  /// taken. An instance that cannot lock runs nothing rather than twice.
  bool lease(const StartJob& start, Time at);
  /// Gives back what no job uses. To be called when all that happened at a time has been decided,
  /// so that a device that goes from one job to the next stays locked.
  void release_unused();
  DeviceLocks* locks() const { return locks_; }

  /// Begins to read the devices. Returns when the first reading has been taken: which devices are
  /// lost or in use must be known before the first job starts.
  void start_readings();
  /// Nobody may sample while the list of devices grows.
  void stop_readings();
  bool has_readings() const { return telemetry_ != nullptr; }
  /// A reading soon: what is used of a device has changed. One that is under way may come before;
  /// those that begin after this call have its number in Reading::asked, or a higher one.
  std::uint64_t read_soon();
  /// What the processes below `root` use is this job's.
  void job_started(const JobRoot& root);
  void job_ended(JobId job);
  /// Called with each reading once the scheduler knows of it.
  void on_reading(std::function<void(const Telemetry::Reading&, Time)> call) {
    on_reading_ = std::move(call);
  }

  void set_drained(DeviceId device, bool drained, Time at);
  void set_removed(DeviceId device, bool removed, Time at);
  const std::vector<DeviceState>& states() const { return states_; }
  const DeviceInfo& info(DeviceId device) const { return devices_.list()[device.value]; }
  /// What shows these devices to a job, and no others.
  EnvironmentChanges environment(std::span<const DeviceId> leased) const {
    return device_environment(devices_, leased);
  }

 private:
  void hold_in_use(DeviceId device);
  void take_freed();
  void take_newest();
  void take_reading(const Telemetry::Reading& reading);
  void settle_health(DeviceId device, Time at);
  Bytes foreign_use(DeviceId device) const;

  ToldScheduler& scheduler_;
  Host& host_;
  Devices& devices_;
  std::string mark_;
  Duration sample_interval_;
  DeviceLocks* locks_ = nullptr;
  std::vector<DeviceState> states_;
  std::map<JobId, JobRoot> jobs_;   // that run
  std::uint64_t asked_ = 0;         // the last number of read_soon()
  std::uint64_t asked_before_ = 0;  // likewise, when readings were last stopped
  std::function<void(const Telemetry::Reading&, Time)> on_reading_;
  std::unique_ptr<Telemetry> telemetry_;  // last: its thread reads the devices
};

}  // namespace berth
