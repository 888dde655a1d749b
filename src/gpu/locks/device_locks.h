// DeviceLocks: keeps the berths of a machine, of one user or of several, from leasing one device at
// the same time. Owned by one thread, which it never makes wait.
//
// An owner is a daemon's home, a `berth run` or a `schedule`. For each device that it leases it has
// a file in the lock folder (lock_folder.h), under a name that nobody can guess, and a shared lock
// on it. The kernel frees the device when the last process of its owner is gone, whatever it died
// of; and since the lock is shared among an owner's processes, a daemon that comes back takes its
// own lock again while the shims of the daemon before still hold theirs.
//
// There is no lock over the locks, for any user could hold that. An owner asks for a device so:
//   1. It makes its file, unlocked, and shows it (mode 0644).
//   2. It lists the device's files. In the order of their names it locks its own file, shared, and
//      every other one, exclusively; without waiting. If one cannot be locked, the owner has lost:
//      it removes its file and waits for that one.
//   3. It lists the files again. If one that was not there before, or not shown, says that its
//      owner holds the device (mode 0444) and is locked, the owner has lost.
//   4. It marks its file as holding (mode 0444), and only then unlocks those of the others.
// No two hold a device. Let P have shown its file before Q did. Q's list has P's file, so Q had it
// locked exclusively when Q marked its own. P therefore locked its file, in step 2, after that; and
// found Q's file locked in step 2, or marked in step 3.
// Not all lose. Who loses in step 2 does so at a file that another has locked, who, if that one
// loses in step 2 as well, does so at a file later in the order. The last of such a chain does not
// lose in step 2; and if it loses in step 3, somebody holds the device.
// A file of 0444 that can be locked is a dead owner's, and is passed by. A daemon that finds a file
// of its own from before (its user's, its identity's) locks that one before it lists the files,
// instead of steps 1 and 3.
//
// So a stranger can do what every user may: have the device, and be named for it. A stranger who
// locks another's file in between is named, too (find_lockers), and the device is tried again.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "base/fd.h"
#include "base/ids.h"
#include "base/result.h"
#include "gpu/devices.h"
#include "gpu/locks/lock_attempt.h"
#include "gpu/locks/lock_folder.h"
#include "gpu/locks/lock_waits.h"

namespace berth {

class DeviceLocks {
 public:
  struct Owner {
    std::string kind;  // "daemon", "run", "schedule"
    /// What tells this owner from others of the user and the kind, also after a restart: a daemon's
    /// home. Empty: this process and no other.
    std::string identity;
    std::string task;  // to be shown to those who wait
  };

  /// For these devices, by their places in the list; it leases none of them yet.
  static Result<std::unique_ptr<DeviceLocks>> open(Owner owner,
                                                   std::span<const DeviceInfo> devices);
  /// Gives everything back, except what other processes of this owner still hold.
  ~DeviceLocks();
  DeviceLocks(const DeviceLocks&) = delete;
  DeviceLocks& operator=(const DeviceLocks&) = delete;

  /// The list has grown to this; what is held stays held.
  void extend(std::span<const DeviceInfo> devices);

  /// Why a device could not be leased.
  struct Obstacle {
    DeviceId device;
    std::optional<LockHolder> holder;  // who has it
    std::string error;                 // or what went wrong
    bool passing = false;              // others ask for it at this moment: not worth a word
  };
  /// Leases all of these, or none: then it returns what stands in the way, and freed() will tell
  /// when each of those may be tried again: it may be free, or some time has passed since an error.
  /// Never waits. What is held already stays held.
  std::vector<Obstacle> try_acquire(std::span<const DeviceId> devices);
  void release(DeviceId device);
  bool holds(DeviceId device) const { return slots_[device.value].held; }
  /// What stood in the way when it was last tried, until freed() has told of it.
  const Obstacle* obstacle(DeviceId device) const;

  /// Readable when freed() has something.
  int event_fd() const { return waits_->event_fd(); }
  /// Devices that could not be leased and are worth another try; somebody else may be faster.
  std::vector<DeviceId> freed();

  /// Puts back lock files that somebody has removed, and says so, a line for each. Looks at most
  /// once a second.
  std::vector<std::string> restore();

  /// The lock files behind devices that are held: whoever locks one of them, shared, before this
  /// process is gone keeps the device.
  std::vector<std::string> paths(std::span<const DeviceId> devices) const;
  /// What a job on these devices is to have as BERTH_LEASES: a berth that it starts may use them,
  /// too.
  std::string leases(std::span<const DeviceId> devices) const;
  /// Descriptors that keep the devices while any process has them open. Borrowed.
  std::vector<int> descriptors(std::span<const DeviceId> devices) const;

 private:
  using Clock = std::chrono::steady_clock;
  /// A device of the machine. Several slots may stand for one: `--gpus 0,0`.
  struct Place {
    std::string key;
    std::string prefix;  // of its files
    std::string name;
    std::string file;                  // the name of ours, while held
    Fd lock;                           // while held
    std::vector<std::string> earlier;  // other files of this owner, from before it came back
    bool visited = false;              // such files were looked for
    std::size_t slots_held = 0;
    std::optional<Obstacle> obstacle;
    Clock::time_point refused{};           // last
    std::uint32_t refusals = 0;            // in a row
    bool put_off = false;                  // so many that the next try waits for a moment
    std::chrono::milliseconds patience{};  // with what went wrong, before the next try
  };
  struct Slot {
    std::size_t place = 0;
    bool held = false;
  };

  DeviceLocks() = default;
  /// What stands in the way, or nothing when the place is ours.
  std::optional<Obstacle> acquire(std::size_t place);
  Result<void> open_folder();
  LockAttempt::Question question(const Place& place) const;
  Obstacle refuse(std::size_t place, const Result<void>& problem, LockAttempt& attempt);
  bool passes(const std::string& name, const Place& place) const;
  void drop(Place& place);
  std::string put_back(Place& place);
  std::vector<DeviceId> slots_of(std::size_t place) const;
  std::string line(const Place& place) const;

  Owner owner_;
  std::string root_;
  Fd folder_;
  std::string signature_;      // in the names of this owner's files, before what is random
  std::string inherited_;      // BERTH_LEASES of this process
  std::set<std::string> kin_;  // the files in it: whoever started us has leased for us
  std::vector<Place> places_;
  std::vector<Slot> slots_;  // by DeviceId
  std::unique_ptr<LockWaits> waits_;
  Clock::time_point looked_{};  // for removed files
};

/// "GPU 0 is in use by alice's run, process 12: train.py" or "GPU 0 cannot be locked: …".
std::string describe(const DeviceLocks::Obstacle& obstacle, std::string_view gpu);

}  // namespace berth
