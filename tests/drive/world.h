// World: a live driver with everything around it. The host and the devices are fakes; the locks are
// real ones in a folder of the test's own, where a second owner is the other berth instance; MPS is
// real, with a stand-in for NVIDIA's program. Time is the test's, except for what the kernel and
// the locks' patience take.
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

  // Before the first driver.
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

  /// `recipe`: empty: nothing is learned of the job.
  Result<void> submit(const std::string& name, JobSpec spec, std::uint32_t array, bool mps,
                      const std::string& recipe);
  Result<void> edit(JobId job, const JobSpec& spec);
  void over(AttemptOver over);
  /// Decides, as long as there is something to decide.
  void turn();
  void advance(Time until);
  /// The driver's process is gone; another one takes up its jobs.
  void restart();

  // Devices.
  /// Also while the driver runs.
  void add_device(const DeviceSpec& spec);
  /// A job's name or "foreign", and what it holds.
  void set_use(DeviceId device, const std::map<std::string, Bytes>& holders);
  void begin_reading(bool asked);
  void end_reading();

  // Locks.
  void other_takes(DeviceId device);
  void other_frees(DeviceId device);
  bool other_could_take(DeviceId device);
  void break_locks(bool broken);

  // MPS. What a test asks of the stand-in: a file in its folder.
  void mps_refuses(const std::string& why) { folder_.write("refuse", why); }
  void mps_is_slow();
  void mps_comes();
  void mps_dies();

  /// Until something has happened, with what the host hears of that descriptor.
  void hear(const std::string& what);

  const std::vector<Told>& journal() const { return journal_; }
  /// Holds the journal against its replay.
  void check_replay() const;

 private:
  void open();
  DeviceLocks& other();
  std::vector<Restore> live_jobs() const;
  /// Of the stand-ins, those that have written down this word.
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
  std::map<JobId, JobSpec> specs_;  // with what was edited since
  bool uses_mps_ = false;
  std::size_t slow_started_ = 0;
};

}  // namespace berth
