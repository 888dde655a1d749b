// Where MPS control daemons meet their clients: a folder in /tmp/berth-mps-UID, which belongs to
// that user alone. The user may change everything below it, even into links and mounts. So this
// process only ever looks there, by the rules of base/foreign_file.h, and processes of that user do
// everything else. A /tmp/berth-mps-UID that is anything but a folder of that user, closed to
// others, is left alone, because every user may make one.
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

/// The path is kept short, because it contains sockets.
struct MpsPlace {
  std::string folder;   // for one control daemon alone
  std::string visible;  // its device's word in CUDA_VISIBLE_DEVICES
  uid_t user = 0;       // the user whose jobs it serves
  std::string mark;     // "NAME=value" for its environment; empty: none
  /// The identity that a process of that user takes on. Not needed for this process's own user.
  std::optional<UserIdentity> identity;

  std::string pipe() const { return folder + "/pipe"; }
  std::string log() const { return folder + "/log"; }
};

/// The folder of the control daemon for this user, owner and device.
std::string mps_folder(uid_t user, std::string_view owner, std::string_view device);

/// The environment changes that a job on this device needs to use the control daemon there.
EnvironmentChanges mps_environment(const MpsPlace& place, const DeviceInfo& device,
                                   const Needs& needs);

/// The users that have such folders and for whom this process may start processes.
std::vector<uid_t> mps_users();

/// Makes /tmp/berth-mps-UID, or checks that the existing one is as it must be.
Result<void> make_mps_root(uid_t user);

/// Whether the place has been made.
bool place_exists(const MpsPlace& place);

/// Makes `inotify` report new files in the place's pipe directory.
void watch_pipe(const MpsPlace& place, int inotify);

}  // namespace berth
