// Where the control daemons of MPS meet their clients: a folder in /tmp/berth-mps-UID, which is its
// user's alone. What is below is that user's to change, also into links and mounts, so this process
// only ever looks there by the rules of base/foreign_file.h; all else is done by processes of that
// user. A /tmp/berth-mps-UID that is anything but a folder of that user, closed to others, is left
// alone: everybody may make one.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/user.h"
#include "core/needs.h"
#include "gpu/devices.h"
#include "gpu/job_environment.h"

namespace berth {

/// The path is short, because sockets are in it.
struct MpsPlace {
  std::string folder;   // for one control daemon alone
  std::string visible;  // its device's word in CUDA_VISIBLE_DEVICES
  uid_t user = 0;       // whose jobs it serves
  std::string mark;     // "NAME=value" for its environment; empty: none
  /// What a process of that user is to the kernel; not needed where it is this process's own user.
  std::optional<UserIdentity> identity;

  std::string pipe() const { return folder + "/pipe"; }
  std::string log() const { return folder + "/log"; }
};

/// The folder for this owner's and device's control daemon of a user.
std::string mps_folder(uid_t user, std::string_view owner, std::string_view device);

/// What a job on this device must find in its environment to go through the control daemon there.
EnvironmentChanges mps_environment(const MpsPlace& place, const DeviceInfo& device,
                                   const Needs& needs);

/// Users that have such folders, as far as this process may start something for them.
std::vector<uid_t> mps_users();

/// Makes /tmp/berth-mps-UID, or sees that it is as it must be.
Result<void> make_mps_root(uid_t user);

/// Whether somebody has made the place.
bool place_exists(const MpsPlace& place);

/// Lets `inotify` tell what is new in the place's pipe directory.
void watch_pipe(const MpsPlace& place, int inotify);

}  // namespace berth
