// DeviceLocks: keeps the berths of a machine, of one user or of several, from leasing one device at
// the same time. Owned by one thread.
//
// An owner is a daemon's home, a `berth run` or a `schedule`. It has a file in the folder of each
// device that it leases (lock_folder.h) and holds a shared lock on it. A device is free when the
// files of all others can be locked exclusively. So the kernel itself frees a device when the last
// process of its owner is gone, whatever it died of; and since the lock is shared among an owner's
// processes, a daemon that comes back takes its own lock again while the shims of the daemon before
// still hold theirs.
//
// Waiting: for each device that is found taken a thread blocks in flock() on the file that stands
// in the way. A watch on the file would not do: the kernel announces that a file was closed before
// it drops the lock on it.
#pragma once

#include <cstdint>
#include <functional>
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
#include "gpu/lock_folder.h"

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

  /// A device that somebody else has.
  struct Taken {
    DeviceId device;
    LockHolder holder;
  };
  /// Leases all of these, or none: then it returns what stands in the way, and freed() will tell
  /// when each of those may be free. Never waits. What is held already stays held.
  Result<std::vector<Taken>> try_acquire(std::span<const DeviceId> devices);
  void release(DeviceId device);
  bool holds(DeviceId device) const { return slots_[device.value].held; }

  /// Readable when freed() has something.
  int event_fd() const;
  /// Devices that were found taken and may be free by now; somebody else may be faster.
  std::vector<DeviceId> freed();

  /// The lock files behind devices that are held: whoever locks one of them, shared, before this
  /// process is gone keeps the device.
  std::vector<std::string> paths(std::span<const DeviceId> devices) const;
  /// What a job on these devices is to have as BERTH_LEASES: a berth that it starts may use them,
  /// too.
  std::string leases(std::span<const DeviceId> devices) const;
  /// Descriptors that keep the devices while any process has them open. Borrowed.
  std::vector<int> descriptors(std::span<const DeviceId> devices) const;

 private:
  /// Filled by the threads that wait; they may outlive this object.
  struct Mailbox;
  /// A device of the machine. Several slots may stand for one: `--gpus 0,0`.
  struct Place {
    std::string key;
    std::string path;  // of its folder
    Fd folder;
    Fd lock;  // while held
    std::string name;
    bool passing = false;  // simulated: its folder is not kept
    std::size_t slots_held = 0;
    bool awaited = false;  // a thread waits for it
  };
  struct Slot {
    std::size_t place = 0;
    bool held = false;
  };

  DeviceLocks() = default;
  /// The holder in the way, or nothing when the place is ours.
  Result<std::optional<LockHolder>> acquire(std::size_t place);
  Result<void> open_folder(Place& place);
  std::optional<LockHolder> find_other(Place& place, std::size_t index, Result<void>& problem);
  Result<void> take_own(Place& place);
  Result<Fd> reopen_own(Place& place);
  Result<Fd> create_own(Place& place);
  Result<void> await(Fd file, std::size_t place);
  void drop(Place& place);
  std::vector<DeviceId> slots_of(std::size_t place) const;
  std::string line(const Place& place) const;

  Owner owner_;
  std::string root_;
  std::string file_;           // the name of this owner's file in every folder
  std::string inherited_;      // BERTH_LEASES of this process
  std::set<std::string> kin_;  // the files in it: whoever started us has leased for us
  std::vector<Place> places_;
  std::vector<Slot> slots_;  // by DeviceId
  std::shared_ptr<Mailbox> mailbox_;
};

}  // namespace berth
