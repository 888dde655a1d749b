// Mps: the supervisor of NVIDIA's MPS control daemons. Owned by one thread, which watches
// event_fd() and calls take_events() when it is readable; nothing here blocks or polls.
//
// Each device and user has a control daemon of its own, which runs as our child while jobs use it.
// Its keeper (mps_keeper.h) starts it before the first of them, starts it again when it dies under
// them, and has it quit when the last of them is gone. CUDA runs silently without MPS where it
// finds no control daemon, so a job must not start before its control daemon answers, and once it
// works on its device we ask whether an MPS server is there.
//
// A control daemon that an earlier process of the same owner has left in its place is adopted,
// never doubled. Whoever calls use() holds the lock of the device, so two processes of one owner
// never do so at once.
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
    /// What tells this owner's control daemons from others', also after a restart: "daemon" and its
    /// home.
    std::string identity;
    /// "NAME=value" for their environment: who ends all processes with it ends them, too. Empty:
    /// none.
    std::string mark;
  };

  explicit Mps(Owner owner);
  /// Control daemons that are in use stay, for whoever adopts them.
  ~Mps() = default;
  Mps(const Mps&) = delete;
  Mps& operator=(const Mps&) = delete;

  /// Whether jobs could go through MPS at all.
  Result<void> check_available();

  /// The job is to run on this device, or does already. True: its control daemon answers. False: an
  /// event will tell.
  Result<bool> use(JobId job, const DeviceInfo& device, uid_t user);
  /// The job has ended, or will not start. Nothing happens for one that is not known.
  void release(JobId job);
  /// The job holds memory on its device.
  void at_work(JobId job);

  /// What nobody uses is told to quit. To be called when all that happened at a time has been
  /// told, so that a control daemon stays when its device goes from one job to the next.
  void settle();
  /// What an earlier process of this owner has left for these devices and nobody uses now, too.
  void take_over(std::span<const DeviceInfo> devices);
  /// settle(), and waits until they are gone; but not long for those of another user, who can make
  /// it wait.
  void finish();

  int event_fd() const { return waits_.event_fd(); }
  std::vector<MpsEvent> take_events();

  /// What a job on this device must find in its environment, whether it is known yet or not.
  EnvironmentChanges environment(const DeviceInfo& device, const Needs& needs) const;

 private:
  using Clock = MpsWaits::Clock;

  MpsPlace place_for(const DeviceInfo& device, uid_t user) const;
  /// The keeper for this place, made where there is none. `seen`: somebody sees who works there.
  MpsKeeper& keeper_for(MpsPlace place, const DeviceInfo& device, bool seen);
  MpsKeeper* keeper_of(JobId job);
  /// Whatever has happened to any of them.
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
