// World: a live driver with everything around it. The host and the devices are fakes. The locks are
// real, in the test's own folder, where a second owner is the other berth instance. MPS is real,
// with a stand-in for NVIDIA's program. The test sets the time, except for the time that the kernel
// and the locks' patience take.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "drive/driver.h"
#include "drive/fake_devices.h"
#include "drive/fake_host.h"
#include "drive/replay.h"
#include "gpu/fixture.h"

namespace berth {

class World {
 public:
  World();
  ~World();

  // Only before the first driver.
  DriverOptions& options() { return options_; }
  void learn() { options_.peaks = folder_.path() + "/peaks"; }
  /// Another berth instance has seen what a job of this recipe uses.
  void other_learns(const std::string& recipe, Bytes peak) const;
  void without_readings() { reads_ = false; }
  /// The devices' driver lists no processes, as in a container.
  void without_processes() { lists_ = false; }

  FakeDevices& devices() { return devices_; }
  FakeHost& host() { return host_; }
  Driver& driver();
  ScenarioJobs& jobs() { return jobs_; }
  Time now() const { return host_.now(); }

  /// With an empty `recipe`, nothing is learned about the job.
  Result<void> submit(const std::string& name, JobSpec spec, std::uint32_t array, bool mps,
                      const std::string& recipe);
  Result<void> edit(JobId job, const JobSpec& spec);
  void over(AttemptOver over);
  /// Lets the driver decide until nothing is left to decide.
  void turn();
  void advance(Time until);
  /// Replaces the driver, as if its process were gone. The new driver takes over its jobs.
  void restart();

  // Devices.
  /// Also possible while the driver runs.
  void add_device(const DeviceSpec& spec);
  /// `holders`: the memory that each job holds, by its name, and that others hold, as "foreign".
  void set_use(DeviceId device, const std::map<std::string, Bytes>& holders);
  void begin_reading(bool asked);
  void end_reading();

  // Locks.
  void other_takes(DeviceId device);
  void other_frees(DeviceId device);
  bool other_could_take(DeviceId device);
  void break_locks(bool broken);

  // MPS. A test controls the stand-in by files in its folder.
  void mps_refuses(const std::string& why) { folder_.write("refuse", why); }
  void mps_is_slow();
  void mps_comes();
  void mps_dies();

  /// Lets the host read the descriptor that is watched as `what` until something has happened.
  void hear(const std::string& what);

  const std::vector<Told>& journal() const { return journal_; }
  /// Compares the journal with its replay.
  void check_replay() const;

 private:
  void open();
  DeviceLocks& other();
  std::vector<Restore> live_jobs() const;
  /// The stand-ins that have written this verb into their journal.
  std::vector<pid_t> mps_processes(const std::string& verb) const;
  void end_mps();

  TempFolder folder_;
  ScopedVariable lock_folder_;
  ScopedVariable mps_folder_;
  ScopedVariable path_;
  ScopedVariable leases_{"BERTH_LEASES", nullptr};
  DriverOptions options_;
  bool reads_ = true;
  bool lists_ = true;
  ScenarioJobs jobs_;
  FakeDevices devices_;
  FakeHost host_{jobs_};
  std::unique_ptr<DeviceLocks> locks_;
  std::unique_ptr<DeviceLocks> other_;
  std::unique_ptr<Driver> driver_;
  std::uint64_t next_id_ = 1;
  std::vector<Told> journal_;
  std::map<JobId, JobSpec> specs_;  // with later edits
  bool uses_mps_ = false;
  std::size_t slow_started_ = 0;
};

}  // namespace berth
