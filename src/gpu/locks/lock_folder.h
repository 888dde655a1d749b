// The folder that all berth instances on a machine share for device locks, and the contents of a
// lock file. There is one folder for all users, with one file for each lease. DeviceLocks says how
// the files are used.
//
// Every user may write here, so nothing is trusted. Links are not followed, and only regular files
// count. A file belongs to the user whom the kernel names as its owner. The text of another user's
// file is only ever displayed. The folder must keep users from removing each other's files: see
// open_lock_folder().
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

/// The holder of a lease.
struct LockHolder {
  uid_t uid = 0;             // the file's owner; the rest is what the file says
  std::string kind;          // "daemon", "run" or "schedule"
  pid_t pid = 0;             // the leasing process; a daemon's jobs may have outlived it
  std::int64_t started = 0;  // seconds since 1970
  std::string device;        // as its owner calls it
  std::string task;
  std::string path;   // of the file
  bool kept = false;  // nobody uses the device: it is given up to whoever asks
};

/// "alice's schedule, process 1234: train.py".
std::string describe(const LockHolder& holder);
/// The user's name, or the number of a user without a name.
std::string user_name(uid_t user);

/// $BERTH_LOCKS; else /run/lock if every user may add files to it; else /tmp. These are the
/// machine's own folders. A folder of berth's own below them would belong to the first user, who
/// could remove the files of others. The rule is the same for every user, or users would not find
/// each other's locks.
std::string lock_root();

/// Opens the folder, and makes it with mode 1777 if it is missing. Refuses a folder in which users
/// could remove each other's files: one that is open to others without the sticky bit, or that
/// belongs to a user who is neither root nor the caller and is not exactly 1777.
Result<Fd> open_lock_folder(const std::string& path);
/// Whether an opened folder is still safe to use. `info` is what the kernel says of it.
Result<void> check_lock_folder(const struct stat& info, const std::string& path);

/// Opens a file in such a folder that all users share, and makes it with this mode if it is
/// missing.
Result<Fd> open_shared_file(const std::string& path, int flags, mode_t mode);

/// The same name for the same device in every process: its UUID if it has one.
std::string lock_key(const DeviceInfo& device);
/// `key` as a file name: letters, digits, "-", "_" and ".", with escapes such as "%2F" for the
/// rest. Different keys have different names. No name is hidden or too long.
std::string escape_file_name(std::string_view key);

/// A hash of a text, the same in every berth instance.
std::uint64_t key_hash(std::string_view text);

// --- the file of an owner

std::string encode_holder(const LockHolder& holder);
/// The holder in `text`, fit to be displayed. A file that makes no sense has an empty task.
LockHolder decode_holder(std::string_view text, uid_t uid, std::string path);

/// The beginning of the names of all files for the device `key`.
std::string lock_prefix(std::string_view key);

/// The mode of a lock file shows how far its owner has come: still hidden, asking for the device,
/// holding it, or keeping
/// it for a while although nobody uses it.
inline constexpr mode_t kModeHidden = 0600;
inline constexpr mode_t kModeAsking = 0644;
inline constexpr mode_t kModeHolding = 0444;
inline constexpr mode_t kModeKept = 0544;

/// Another owner's file for a device, opened for reading.
struct LockClaim {
  Fd file;
  struct stat info {};
  bool holding() const { return (info.st_mode & 0222) == 0; }
  bool kept() const { return (info.st_mode & 0777) == kModeKept; }
};
/// Nothing for a file that cannot be a lock: a link, a pipe, a folder, a file that is still hidden
/// or is gone.
Result<std::optional<LockClaim>> open_lock_claim(int folder, const std::string& name);

/// Names in an opened folder that begin with `prefix`, in order. Fails if the folder has so many
/// files that looking through them would take long.
Result<std::vector<std::string>> names_in(int folder, std::string_view prefix);

/// The holder that an opened file names. If the kernel says that another user holds the file's
/// lock, that user is the holder.
LockHolder read_holder(const LockClaim& claim, std::string path);

/// A process that has a lock on this file, and its user, as far as the kernel tells.
struct FileLocker {
  pid_t pid = 0;
  uid_t uid = 0;
};
std::vector<FileLocker> find_lockers(const struct stat& file);

/// All current holders of devices, of every berth instance, ordered by file. Never waits.
std::vector<LockHolder> list_lock_holders(const std::string& root);

}  // namespace berth
