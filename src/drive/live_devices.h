// LiveDevices: the devices of a live scheduler. It locks the devices that it leases, against the
// other berth instances on the machine. It watches how devices are used, and tells the scheduler
// when a device is lost, drained, taken by another instance or free again. Owned by the driver's
// thread.
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

/// What is known about a device beyond the scheduler's table.
struct DeviceState {
  bool drained = false;  // the user's wish
  bool removed = false;  // likewise
  bool lost = false;     // as the GPU driver reports
  std::optional<DeviceSample> sample;
  DeviceUse use;
  bool had_jobs = false;  // since the last reading
};

class LiveDevices {
 public:
  /// `devices` may grow: see add_new(). `mark`: the value of BERTH_RUN that tells the processes of
  /// our jobs from others.
  LiveDevices(ToldScheduler& scheduler, Host& host, Devices& devices, std::string mark,
              Duration sample_interval);

  /// Tells the scheduler about the devices that have joined the list. `measure_power`: asks the
  /// drivers what the devices are expected to draw.
  void add_new(bool measure_power);

  /// From here on, devices are leased through `locks`, which is not owned. Null when no other
  /// instance uses the devices.
  void use_locks(DeviceLocks* locks);
  /// False when the job must wait: another instance has one of its devices, or a lock cannot be
  /// taken. An instance that cannot lock a device does not use it, so that no device is used twice.
  bool lease(const StartJob& start, Time at);
  /// Gives back the devices that no job uses. Call it when everything that happened at a time has
  /// been decided, so that a device that goes from one job to the next stays locked.
  void release_unused();
  DeviceLocks* locks() const { return locks_; }

  /// Begins to read the devices. Returns when the first reading has been taken, because lost
  /// devices and devices in use must be known before the first job starts.
  void start_readings();
  /// Stops reading the devices. No reading may be taken while the list of devices grows.
  void stop_readings();
  bool has_readings() const { return telemetry_ != nullptr; }
  /// Requests a reading soon, because the use of a device has changed. A reading that is under way
  /// may come first. Readings that begin after this call have the returned number, or a higher one,
  /// in Reading::asked.
  std::uint64_t read_soon();
  /// Counts what the processes below `root` use as this job's.
  void job_started(const JobRoot& root);
  void job_ended(JobId job);
  /// `call` gets each reading once the scheduler knows of it.
  void on_reading(std::function<void(const Telemetry::Reading&, Time)> call) {
    on_reading_ = std::move(call);
  }

  void set_drained(DeviceId device, bool drained, Time at);
  void set_removed(DeviceId device, bool removed, Time at);
  const std::vector<DeviceState>& states() const { return states_; }
  const DeviceInfo& info(DeviceId device) const { return devices_.list()[device.value]; }
  /// The environment that shows a job these devices and no others.
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
  std::map<JobId, JobRoot> jobs_;   // that are running
  std::uint64_t asked_ = 0;         // the last number of read_soon()
  std::uint64_t asked_before_ = 0;  // the same, when readings were last stopped
  std::function<void(const Telemetry::Reading&, Time)> on_reading_;
  std::unique_ptr<Telemetry> telemetry_;  // last: its thread reads the devices
};

}  // namespace berth
