// Where the device locks of all berths on a machine meet, and what is in a lock's file. One folder
// per device, and in it one file per owner; DeviceLocks says how they are used.
//
// Everybody may write here, so nothing is trusted: links are not followed, a name that berth would
// use may be somebody else's, and what another user's file says is only ever shown.
#pragma once

#include <sys/stat.h>
#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/fd.h"
#include "base/result.h"
#include "gpu/devices.h"

namespace berth {

/// Who has leased a device.
struct LockHolder {
  uid_t uid = 0;             // whose file it is; the rest is what the file says
  std::string kind;          // "daemon", "run" or "schedule"
  pid_t pid = 0;             // of who leased it; a daemon's jobs may have outlived that
  std::int64_t started = 0;  // seconds since 1970
  std::string device;        // as its owner calls it
  std::string task;
  std::string path;  // of the file
};

/// "alice's schedule, process 1234: train.py".
std::string describe(const LockHolder& holder);
/// The user's name, or the number where it has none.
std::string user_name(uid_t user);

/// $BERTH_LOCKS; else /run/lock/berth where that is there or every user could make it; else
/// /tmp/berth-locks. The rule does not depend on who asks, or users would not meet.
std::string lock_root();

/// Opens a folder that all users may add files to (mode 1777), and makes it where it is missing.
Result<Fd> open_shared_folder(const std::string& path);

/// Opens a file in such a folder that all users share, and makes it with this mode where it is
/// missing.
Result<Fd> open_shared_file(const std::string& path, int flags, mode_t mode);

/// The same name for the same device in every process: its UUID where it has one.
std::string lock_key(const DeviceInfo& device);
/// `key` as a file name: letters, digits, "-", "_", "." and, for the rest, "%2F". Different keys
/// have different names, none is hidden and none is too long.
std::string escape_file_name(std::string_view key);

// --- the file of an owner

std::string encode_holder(const LockHolder& holder);
/// What can be shown of it; a file that makes no sense has an empty task.
LockHolder decode_holder(std::string_view text, uid_t uid, std::string path);

/// A file in `folder` that may be an owner's, opened for reading. Nothing for what cannot be one:
/// hidden names, links, pipes, and what this user may not read.
std::optional<Fd> open_owner_file(int folder, const std::string& name, struct stat& info);
/// Names in an opened folder that are not hidden.
std::vector<std::string> visible_names(int folder);
/// The holder that an opened owner file tells of.
LockHolder read_holder(int file, const struct stat& info, std::string path);

/// While it lives nobody else changes the locks in this folder.
class FolderMutex {
 public:
  explicit FolderMutex(int folder);
  ~FolderMutex();
  FolderMutex(const FolderMutex&) = delete;
  FolderMutex& operator=(const FolderMutex&) = delete;

 private:
  int folder_;
};

/// All who have leased a device now, by whichever berth; ordered by file.
std::vector<LockHolder> list_lock_holders(const std::string& root);

}  // namespace berth
