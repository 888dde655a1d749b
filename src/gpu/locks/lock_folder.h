// Where the device locks of all berths on a machine meet, and what is in a lock's file. One folder
// for everybody, and in it a file for each lease; DeviceLocks says how they are used.
//
// Everybody may write here, so nothing is trusted: links are not followed, only regular files
// count, whose they are is what the kernel says of their owner, and what another user's file says
// is only ever shown. The folder must keep users from removing each other's files: see
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

/// $BERTH_LOCKS; else /run/lock where every user may add files to it; else /tmp. These are the
/// machine's own folders: one of berth's own, below them, would be whoever's comes first, who could
/// remove the others' files. The rule does not depend on who asks, or users would not meet.
std::string lock_root();

/// Opens the folder, and makes it with mode 1777 where it is missing. Refuses a folder in which
/// users could remove each other's files: one that is open to others without the sticky bit, or
/// that belongs to a user who is neither root nor the caller and is not exactly 1777.
Result<Fd> open_lock_folder(const std::string& path);
/// Whether the opened folder of which the kernel says `info` is still safe to use.
Result<void> check_lock_folder(const struct stat& info, const std::string& path);

/// Opens a file in such a folder that all users share, and makes it with this mode where it is
/// missing.
Result<Fd> open_shared_file(const std::string& path, int flags, mode_t mode);

/// The same name for the same device in every process: its UUID where it has one.
std::string lock_key(const DeviceInfo& device);
/// `key` as a file name: letters, digits, "-", "_", "." and, for the rest, "%2F". Different keys
/// have different names, none is hidden and none is too long.
std::string escape_file_name(std::string_view key);

/// A number for a text, the same in every berth.
std::uint64_t key_hash(std::string_view text);

// --- the file of an owner

std::string encode_holder(const LockHolder& holder);
/// What can be shown of it; a file that makes no sense has an empty task.
LockHolder decode_holder(std::string_view text, uid_t uid, std::string path);

/// What the names of all files for the device `key` begin with.
std::string lock_prefix(std::string_view key);

/// The modes of a lock's file tell how far its owner has come: not yet to be seen, asking for the
/// device, holding it.
inline constexpr mode_t kModeHidden = 0600;
inline constexpr mode_t kModeAsking = 0644;
inline constexpr mode_t kModeHolding = 0444;

/// Another's file for a device, opened for reading.
struct LockClaim {
  Fd file;
  struct stat info {};
  bool holding() const { return (info.st_mode & 0222) == 0; }
};
/// Nothing for what cannot be a lock: links, pipes, folders, what is not yet to be seen or gone.
Result<std::optional<LockClaim>> open_lock_claim(int folder, const std::string& name);

/// Names in an opened folder that begin with `prefix`, ordered. Fails in a folder with so many
/// files that looking through them would take long.
Result<std::vector<std::string>> names_in(int folder, std::string_view prefix);

/// The holder that an opened file tells of. Where the kernel says that the file's lock is another
/// user's, that user is the holder.
LockHolder read_holder(const LockClaim& claim, std::string path);

/// A process that has a lock on this file, and its user, as far as the kernel tells.
struct FileLocker {
  pid_t pid = 0;
  uid_t uid = 0;
};
std::vector<FileLocker> find_lockers(const struct stat& file);

/// All who have leased a device now, by whichever berth; ordered by file. Waits for nobody.
std::vector<LockHolder> list_lock_holders(const std::string& root);

}  // namespace berth
