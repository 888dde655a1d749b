// Mps: the supervisor of NVIDIA's MPS control daemons. Owned by one thread, which watches
// event_fd() and calls take_events() when it is readable. Apart from finish(), nothing here blocks
// or polls.
//
// Each pair of device and user has its own control daemon, which runs as our child while jobs use
// it. Its keeper (mps_keeper.h) starts it before the first job, starts it again when it dies while
// jobs use it, and tells it to quit when the last job is gone. CUDA silently runs without MPS when
// it finds no control daemon. A job therefore must not start before its control daemon answers.
// Once the job works on its device, the keeper asks whether an MPS server is there.
//
// A control daemon that an earlier process of the same owner has left in its place is adopted,
// never started a second time. The caller of use() holds the lock of the device, so two processes
// of one owner never call use() for it at once.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "base/user_lookup.h"
#include "core/needs.h"
#include "gpu/devices.h"
#include "gpu/job_environment.h"
#include "gpu/mps/mps_jobs.h"
#include "gpu/mps/mps_keeper.h"
#include "gpu/mps/mps_waits.h"

namespace berth {

class Mps {
 public:
  struct Owner {
    /// Distinguishes this owner's control daemons from those of others, also after a restart:
    /// "daemon" and its home.
    std::string identity;
    /// "NAME=value" for the environment of the control daemons. Ending all processes with this mark
    /// ends them, too. Empty: none.
    std::string mark;
  };

  explicit Mps(Owner owner);
  /// Control daemons that are in use keep running, for a later process to adopt.
  ~Mps() = default;
  Mps(const Mps&) = delete;
  Mps& operator=(const Mps&) = delete;

  /// Whether jobs could use MPS at all.
  Result<void> check_available();

  /// Call it when the job is to run on this device, or already runs on it. True when its control
  /// daemon answers. False when an event will report that later.
  Result<bool> use(JobId job, const DeviceInfo& device, uid_t user);
  /// Call it when the job has ended or will not start. Does nothing for an unknown job.
  void release(JobId job);
  /// Call it when the job holds memory on its device.
  void at_work(JobId job);

  /// Tells unused control daemons to quit. Call it after everything that happened at one time has
  /// been reported here, so that a control daemon stays when its device goes from one job to the
  /// next.
  void settle();
  /// settle(), which then also covers control daemons that an earlier process of this owner has
  /// left for these devices and no job uses now.
  void take_over(std::span<const DeviceInfo> devices);
  /// settle(), then waits until the unused control daemons are gone. The wait is short for those of
  /// another user, because that user can delay them.
  void finish();

  int event_fd() const { return waits_.event_fd(); }
  std::vector<MpsEvent> take_events();

  /// The environment changes that a job on this device needs, whether or not the job is known here
  /// yet.
  EnvironmentChanges environment(const DeviceInfo& device, const Needs& needs) const;

 private:
  using Clock = MpsWaits::Clock;

  MpsPlace place_for(const DeviceInfo& device, uid_t user) const;
  /// The keeper for this place, which is made if there is none. `seen`: telemetry shows which jobs
  /// work there.
  MpsKeeper& keeper_for(MpsPlace place, const DeviceInfo& device, bool seen);
  MpsKeeper* keeper_of(JobId job);
  /// Takes what has happened to any control daemon.
  void look();
  void set_timer();

  Owner owner_;
  std::string program_;  // empty: not found yet
  UserLookup users_;
  MpsWaits waits_;
  std::vector<MpsEvent> events_;
  std::map<std::string, MpsKeeper> keepers_;  // by the folders of their places
};

}  // namespace berth
