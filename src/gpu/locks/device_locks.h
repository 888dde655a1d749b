// DeviceLocks: keeps the berth instances of a machine, of one user or of several, from leasing the
// same device at the same time. Owned by one thread, which it never makes wait.
//
// An owner is a daemon's home, a `berth run` or a `schedule`. For each device that it leases, the
// owner has a file in the lock folder (lock_folder.h), under a name that cannot be guessed, and a
// shared lock on that file. The kernel frees the device when the last process of its owner is gone,
// whatever that process died of. The processes of an owner share the lock, so a daemon that comes
// back takes its own lock again while the shims of the previous daemon still hold theirs.
//
// There is no lock over all locks, because any user could hold it. An owner asks for a device in
// these steps:
//   1. It makes its file, unlocked, and shows it (mode 0644).
//   2. It lists the device's files. In the order of their names, it locks its own file shared and
//      every other file exclusively, without waiting. If a file cannot be locked, the owner has
//      lost: it removes its own file and waits for the locked one.
//   3. It lists the files again. The owner has lost if a file that was not there or not shown
//      before is locked and says that its owner holds the device (mode 0444).
//   4. It marks its own file as holding (mode 0444), and only then unlocks the files of others.
// No two owners hold a device. Suppose that P showed its file before Q did. Q's list has P's file,
// so Q had that file locked exclusively when Q marked its own. P therefore locked its own file, in
// step 2, after that, and found Q's file locked in step 2 or marked in step 3.
// Not all owners lose. An owner that loses in step 2 loses at a file that another owner has locked.
// If that other owner also loses in step 2, it does so at a file later in the order. The last owner
// of such a chain does not lose in step 2. If it loses in step 3, another owner holds the device.
// A file of mode 0444 that can be locked belongs to a dead owner and is skipped. A daemon that
// finds an earlier file of its own (of its user and its identity) locks that file before it lists
// the files, instead of steps 1 and 3.
//
// An owner that will want its devices again soon, as a daemon between two jobs, may keep a device
// locked for a few seconds after its last use. Its file says so (mode 0544), and nobody counts the
// device as used. It hears the file that another owner makes in step 1 (lock_wishes.h) and gives
// the device up at once, so that the other, who has lost in step 2, gets it on its next try. Who
// has asked while the device was in use is remembered: then it is not kept.
//
// So a stranger can do no more than any user may: have the device, and be named as its holder. A
// stranger who locks another owner's file in between is named, too (find_lockers), and the device
// is tried again.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/fd.h"
#include "base/ids.h"
#include "base/result.h"
#include "gpu/devices.h"
#include "gpu/locks/lock_attempt.h"
#include "gpu/locks/lock_folder.h"
#include "gpu/locks/lock_waits.h"
#include "gpu/locks/lock_wishes.h"

namespace berth {

class DeviceLocks {
 public:
  struct Owner {
    std::string kind;  // "daemon", "run", "schedule"
    /// Distinguishes this owner from others of the same user and kind, also after a restart: a
    /// daemon's home. Empty: this process alone.
    std::string identity;
    std::string task;    // shown to users who wait
    bool keeps = false;  // devices that it gives back, until another asks
  };

  /// For these devices, numbered by their places in the list. Leases none of them yet.
  static Result<std::unique_ptr<DeviceLocks>> open(Owner owner,
                                                   std::span<const DeviceInfo> devices);
  /// Gives all devices back, except those that other processes of this owner still hold.
  ~DeviceLocks();
  DeviceLocks(const DeviceLocks&) = delete;
  DeviceLocks& operator=(const DeviceLocks&) = delete;

  /// Call it when the list has grown to this. Held devices stay held.
  void extend(std::span<const DeviceInfo> devices);

  /// Why a device could not be leased.
  struct Obstacle {
    DeviceId device;
    std::optional<LockHolder> holder;  // the owner that has it
    std::string error;                 // or what went wrong
    bool passing = false;              // others ask for it at this moment: not worth reporting
  };
  /// Leases all of these devices or none. If none, it returns the obstacles, and freed() reports
  /// when each of those devices may be tried again: when it may be free, or some time after an
  /// error. Never waits. Devices that are already held stay held.
  std::vector<Obstacle> try_acquire(std::span<const DeviceId> devices);
  void release(DeviceId device);
  bool holds(DeviceId device) const { return slots_[device.value].held; }
  /// The obstacle when the device was last tried, until freed() has reported the device.
  const Obstacle* obstacle(DeviceId device) const;

  /// Readable when freed() must be called.
  int event_fd() const { return waits_->event_fd(); }
  /// Devices that could not be leased and are worth another try. Another owner may be faster.
  /// Gives up devices that are kept and wanted.
  std::vector<DeviceId> freed();

  /// Puts back lock files that were removed, and returns a line about each. Looks at most once a
  /// second.
  std::vector<std::string> restore();

  /// The lock files of held devices. A process that locks one of them, shared, before this process
  /// is gone keeps the device.
  std::vector<std::string> paths(std::span<const DeviceId> devices) const;
  /// The value of BERTH_LEASES for a job on these devices. A berth instance that the job starts may
  /// use them, too.
  std::string leases(std::span<const DeviceId> devices) const;
  /// Descriptors that keep the devices leased while any process has them open. Borrowed.
  std::vector<int> descriptors(std::span<const DeviceId> devices) const;

 private:
  using Clock = std::chrono::steady_clock;
  /// A device of the machine. Several slots may stand for one device (`--gpus 0,0`), and a slot for
  /// several devices or none.
  struct Place {
    std::string key;
    std::string prefix;  // of its files
    std::string name;
    std::string file;                  // the name of our file, while held
    Fd lock;                           // while held
    std::vector<std::string> earlier;  // other files of this owner, from before its restart
    bool visited = false;              // such files have been looked for
    std::size_t slots_held = 0;
    bool kept = false;         // locked, and no slot is held
    bool wanted = false;       // by another owner, since we have it
    bool expires = false;      // waits_ will tell when it has been kept long enough
    Clock::time_point idle{};  // since when it is kept
    std::optional<Obstacle> obstacle;
    Clock::time_point refused{};           // when last refused
    std::uint32_t refusals = 0;            // in a row
    bool put_off = false;                  // so many refusals that the next try is delayed
    std::chrono::milliseconds patience{};  // before the next try
  };
  struct Slot {
    std::vector<std::size_t> places;
    bool held = false;
  };

  DeviceLocks() = default;
  std::size_t place_of(const std::string& key, std::string_view name);
  /// The obstacle, or nothing when the place is now ours.
  std::optional<Obstacle> acquire(std::size_t place);
  Result<void> open_folder();
  LockAttempt::Question question(const Place& place) const;
  Obstacle refuse(std::size_t place, const Result<void>& problem, LockAttempt& attempt);
  bool passes(const std::string& name, const Place& place) const;
  bool keep(std::size_t place);
  bool use_kept(Place& place);
  void hear_wishes();
  void expire_kept(std::size_t place);
  void drop(Place& place);
  std::string put_back(Place& place);
  std::vector<DeviceId> slots_of(std::size_t place) const;
  std::string line(const Place& place) const;

  Owner owner_;
  std::string root_;
  Fd folder_;
  std::string signature_;      // in the names of this owner's files, before the random part
  std::string inherited_;      // BERTH_LEASES of this process
  std::set<std::string> kin_;  // the files in it, which the process that started us has leased
  std::vector<Place> places_;
  std::vector<Slot> slots_;  // by DeviceId
  std::unique_ptr<LockWaits> waits_;
  std::unique_ptr<LockWishes> wishes_;  // of an owner that keeps devices
  Clock::time_point looked_{};          // when we last looked for removed files
};

/// "GPU 0 is in use by alice's run, process 12: train.py" or "GPU 0 cannot be locked: …".
std::string describe(const DeviceLocks::Obstacle& obstacle, std::string_view gpu);

}  // namespace berth
