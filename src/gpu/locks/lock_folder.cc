#include "gpu/locks/lock_folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <pwd.h>
#include <sys/file.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <sstream>

#include "base/foreign_file.h"
#include "base/process_facts.h"
#include "base/secret.h"
#include "base/small_files.h"
#include "base/units.h"

namespace berth {
namespace {

constexpr mode_t kForEverybody = 01777;
constexpr std::size_t kMostText = 4096;  // of an owner's file
constexpr std::string_view kLockFiles = "berth-";
constexpr std::size_t kMostEntries = 100'000;  // of the folder: some tens of milliseconds

std::string without_control_characters(std::string_view text, char instead) {
  std::string clean(text);
  std::replace_if(
      clean.begin(), clean.end(),
      [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }, instead);
  return clean;
}

std::string_view cut(std::string_view& text, char separator) {
  const std::size_t end = std::min(text.find(separator), text.size());
  const std::string_view part = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return part;
}

std::string hidden_name_beside(const std::string& path) {
  const std::size_t slash = path.find_last_of('/');
  return fmt::format("{}/.new-{}", slash == path.npos ? "." : path.substr(0, slash), random_name());
}

/// Made under another name first: nobody may find it before all can use it.
Result<void> make_shared_folder(const std::string& path) {
  const std::string draft = hidden_name_beside(path);
  if (::mkdir(draft.c_str(), 0700) != 0) {
    return fail_errno(fmt::format("cannot create the folder of device locks {}", path), errno);
  }
  int error = ::chmod(draft.c_str(), kForEverybody) != 0 ? errno : 0;
  if (error == 0 && ::syscall(SYS_renameat2, AT_FDCWD, draft.c_str(), AT_FDCWD, path.c_str(),
                              RENAME_NOREPLACE) != 0) {
    error = errno;
  }
  if (error == 0) {
    return {};
  }
  ::rmdir(draft.c_str());
  if (error == EEXIST) {
    return {};  // somebody else was faster
  }
  return fail_errno(fmt::format("cannot create the folder of device locks {}", path), error);
}

}  // namespace

std::string user_name(uid_t user) {
  // Remembered: the user database may be a slow server.
  thread_local std::map<uid_t, std::string> known;
  const auto [found, is_new] = known.try_emplace(user);
  if (is_new) {
    const passwd* entry = ::getpwuid(user);
    found->second = entry != nullptr ? std::string(entry->pw_name) : std::to_string(user);
  }
  return found->second;
}

std::string describe(const LockHolder& holder) {
  std::string text = fmt::format("{}'s {}", user_name(holder.uid),
                                 holder.kind.empty() ? "lock" : holder.kind.c_str());
  if (holder.pid > 0) {
    text += fmt::format(", process {}", holder.pid);
  }
  return holder.task.empty() ? text : text + ": " + holder.task;
}

std::string lock_root() {
  if (const char* chosen = std::getenv("BERTH_LOCKS"); chosen != nullptr && *chosen != '\0') {
    // Absolute, because jobs inherit it and run in other folders.
    std::error_code error;
    const std::filesystem::path path = std::filesystem::absolute(chosen, error);
    return error ? std::string(chosen) : path.lexically_normal().string();
  }
  struct stat info {};
  const bool for_everybody = ::stat("/run/lock", &info) == 0 && S_ISDIR(info.st_mode) &&
                             (info.st_mode & kForEverybody) == kForEverybody;
  // Where root has put a link in their place, it is root's word.
  std::error_code error;
  const std::string chosen_by_rule = for_everybody ? "/run/lock" : "/tmp";
  const std::filesystem::path real = std::filesystem::canonical(chosen_by_rule, error);
  return error ? chosen_by_rule : real.string();
}

Result<void> check_lock_folder(const struct stat& info, const std::string& path) {
  const mode_t mode = info.st_mode & 07777;
  const bool open_to_others = (mode & 0022) != 0;
  const bool trusted = info.st_uid == 0 || info.st_uid == ::geteuid();
  if ((open_to_others && (mode & S_ISVTX) == 0) || (!trusted && mode != kForEverybody)) {
    return fail(ErrorCode::Refused,
                fmt::format("the folder of device locks {} is not safe, for {} owns it and it has "
                            "mode {:o}, so that others could remove the locks in it: {}root must "
                            "say `chmod 1777 {}`, or set BERTH_LOCKS to another folder, the same "
                            "for all users of these GPUs",
                            path, user_name(info.st_uid), mode,
                            info.st_uid == 0 ? "" : user_name(info.st_uid) + " or ", path));
  }
  return {};
}

Result<Fd> open_lock_folder(const std::string& path) {
  constexpr int kFlags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
  Fd folder(::open(path.c_str(), kFlags));
  if (!folder && errno == ENOENT) {
    if (const Result<void> made = make_shared_folder(path); !made) {
      return Failure(made.error());
    }
    folder = Fd(::open(path.c_str(), kFlags));
  }
  if (!folder && (errno == ENOTDIR || errno == ELOOP)) {
    return fail(ErrorCode::Io, fmt::format("{} is in the way of the device locks: not a folder; "
                                           "remove it, or set BERTH_LOCKS to another place",
                                           path));
  }
  if (!folder && errno != EACCES) {
    return fail_errno(fmt::format("cannot open the folder of device locks {}", path), errno);
  }
  struct stat info {};
  (void)::stat(path.c_str(), &info);
  if (!folder || ::faccessat(folder.get(), ".", W_OK | X_OK, AT_EACCESS) != 0) {
    return fail(ErrorCode::Io,
                fmt::format("the folder of device locks {} cannot be written: {} must say `chmod "
                            "1777 {}`, or set BERTH_LOCKS to a folder for all users of these GPUs",
                            path, user_name(info.st_uid), path));
  }
  if (::fstat(folder.get(), &info) != 0) {
    return fail_errno(fmt::format("cannot look at the folder of device locks {}", path), errno);
  }
  if (const Result<void> safe = check_lock_folder(info, path); !safe) {
    return Failure(safe.error());
  }
  return folder;
}

Result<Fd> open_shared_file(const std::string& path, int flags, mode_t mode) {
  const std::string draft = hidden_name_beside(path);
  for (;;) {
    Fd file(::open(path.c_str(), flags | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    struct stat info {};
    if (file && ::fstat(file.get(), &info) == 0 && S_ISREG(info.st_mode)) {
      return file;
    }
    if (file || errno == ELOOP) {
      return fail(ErrorCode::Io, fmt::format("{} is in the way: not a file of berth's", path));
    }
    if (errno != ENOENT) {
      return fail_errno(fmt::format("cannot open {}", path), errno);
    }
    // Under another name first: nobody may find it before all can use it.
    const Fd made(::open(draft.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
    int error = !made || ::fchmod(made.get(), mode) != 0 || ::link(draft.c_str(), path.c_str()) != 0
                    ? errno
                    : 0;
    ::unlink(draft.c_str());
    if (error != 0 && error != EEXIST) {
      return fail_errno(fmt::format("cannot create {}", path), error);
    }
  }
}

std::string lock_key(const DeviceInfo& device) {
  if (!device.realm.empty()) {
    return fmt::format("{}-{}", device.realm, device.spec.name);
  }
  if (!device.spec.uuid.empty()) {
    return device.spec.uuid;
  }
  return device.pci_bus.empty() ? "id-" + device.spec.name : "pci-" + device.pci_bus;
}

std::uint64_t key_hash(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325;  // FNV-1a
  for (const char c : text) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  }
  return hash;
}

std::string escape_file_name(std::string_view key) {
  std::string name;
  for (const char c : key) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '-' || c == '_' || (c == '.' && !name.empty());
    name += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  constexpr std::size_t kLongest = 150;
  if (name.size() > kLongest) {
    name = fmt::format("{}%{:016x}", name.substr(0, kLongest), key_hash(key));
  }
  return name.empty() ? "%" : name;
}

std::string encode_holder(const LockHolder& holder) {
  const std::string line = fmt::format(
      "{}\t{}\t{}\t{}\t{}", holder.kind, holder.pid, holder.started,
      without_control_characters(holder.device, ' '), without_control_characters(holder.task, ' '));
  return line.substr(0, kMostText - 1) + "\n";
}

LockHolder decode_holder(std::string_view text, uid_t uid, std::string path) {
  LockHolder holder;
  holder.uid = uid;
  holder.path = std::move(path);
  std::string_view line = cut(text, '\n');
  holder.kind = without_control_characters(cut(line, '\t'), '?');
  holder.pid = static_cast<pid_t>(parse_integer(cut(line, '\t'), "").value_or(0));
  holder.started = parse_integer(cut(line, '\t'), "").value_or(0);
  holder.device = without_control_characters(cut(line, '\t'), '?');
  holder.task = without_control_characters(line, '?');
  return holder;
}

std::string lock_prefix(std::string_view key) {
  // No escaped name has an "@" in it: no device's prefix begins another's.
  return fmt::format("{}{}@", kLockFiles, escape_file_name(key));
}

Result<std::optional<LockClaim>> open_lock_claim(int folder, const std::string& name) {
  const auto may_be_one = [](const struct stat& info) {
    return S_ISREG(info.st_mode) && (info.st_mode & kModeHolding) == kModeHolding;
  };
  LockClaim claim;
  if (::fstatat(folder, name.c_str(), &claim.info, AT_SYMLINK_NOFOLLOW) != 0) {
    if (errno == ENOENT) {
      return std::optional<LockClaim>();
    }
    return fail_errno(fmt::format("cannot look at the device lock {}", name), errno);
  }
  if (!may_be_one(claim.info)) {
    return std::optional<LockClaim>();
  }
  Result<Fd> file = open_below(folder, name);
  if (!file &&
      (file.error().code == ErrorCode::NotFound || file.error().code == ErrorCode::Refused)) {
    return std::optional<LockClaim>();
  }
  if (!file) {
    // Not as if nobody had it: it may be that this process has too many files open.
    return fail(ErrorCode::Io, fmt::format("cannot look at {}'s device lock: {}",
                                           user_name(claim.info.st_uid), file.error().message));
  }
  claim.file = std::move(*file);
  if (::fstat(claim.file.get(), &claim.info) != 0 || !may_be_one(claim.info)) {
    return std::optional<LockClaim>();
  }
  return claim;
}

Result<std::vector<std::string>> names_in(int folder, std::string_view prefix) {
  std::vector<std::string> names;
  std::size_t seen = 0;
  alignas(dirent64) char entries[32768];
  if (::lseek(folder, 0, SEEK_SET) != 0) {
    return fail_errno("cannot read the folder of device locks", errno);
  }
  for (;;) {
    const long size = ::syscall(SYS_getdents64, folder, entries, sizeof entries);
    if (size < 0) {
      return fail_errno("cannot read the folder of device locks", errno);
    }
    if (size == 0) {
      break;
    }
    for (long at = 0; at < size;) {
      const auto* entry = reinterpret_cast<const dirent64*>(entries + at);
      if (const std::string_view name(entry->d_name); name.starts_with(prefix)) {
        names.emplace_back(name);
      }
      at += entry->d_reclen;
      ++seen;
    }
    if (seen > kMostEntries) {
      return fail(ErrorCode::Io, fmt::format("there are more than {} files in the folder of device "
                                             "locks {}: remove what is not needed there, or set "
                                             "BERTH_LOCKS to another folder",
                                             kMostEntries, lock_root()));
    }
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::vector<FileLocker> find_lockers(const struct stat& file) {
  const std::string wanted =
      fmt::format("{:02x}:{:02x}:{}", ::major(file.st_dev), ::minor(file.st_dev), file.st_ino);
  std::vector<FileLocker> lockers;
  // "12: FLOCK  ADVISORY  READ 708 00:1b:3451 0 EOF"; those who wait have "->" as the second word.
  const std::string table = read_small_file("/proc/locks").value_or(std::string());
  for (std::string_view rest(table); !rest.empty();) {
    std::istringstream line{std::string(cut(rest, '\n'))};
    std::string word[4];
    std::string place;
    pid_t process = 0;
    if (!(line >> word[0] >> word[1] >> word[2] >> word[3] >> process >> place) ||
        word[1] != "FLOCK" || place != wanted) {
      continue;
    }
    if (const std::optional<uid_t> user = user_of_process(process)) {
      lockers.push_back({process, *user});
    }
  }
  return lockers;
}

LockHolder read_holder(const LockClaim& claim, std::string path) {
  char text[kMostText];
  const ssize_t size = ::pread(claim.file.get(), text, sizeof text, 0);
  LockHolder holder = decode_holder({text, static_cast<std::size_t>(std::max<ssize_t>(size, 0))},
                                    claim.info.st_uid, std::move(path));
  holder.kept = claim.kept();
  // Anybody can lock what anybody can read: a dead owner's file, say. Root may hold what it likes.
  const std::vector<FileLocker> lockers = find_lockers(claim.info);
  const bool strange =
      !lockers.empty() && std::none_of(lockers.begin(), lockers.end(), [&](const auto& locker) {
        return locker.uid == holder.uid || locker.uid == 0;
      });
  if (strange) {
    holder.task = fmt::format("a lock on {}'s file", user_name(holder.uid));
    holder.kind.clear();
    holder.uid = lockers.front().uid;
    holder.pid = lockers.front().pid;
  }
  return holder;
}

std::vector<LockHolder> list_lock_holders(const std::string& root) {
  std::vector<LockHolder> holders;
  const Fd folder(::open(root.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  const Result<std::vector<std::string>> names =
      folder ? names_in(folder.get(), kLockFiles) : std::vector<std::string>();
  if (!names) {
    return holders;
  }
  for (const std::string& name : *names) {
    const Result<std::optional<LockClaim>> claim = open_lock_claim(folder.get(), name);
    // Who only asks is left alone: a lock of ours, be it for a moment, would refuse them.
    if (claim && *claim && (*claim)->holding() && !(*claim)->kept() &&
        ::flock((*claim)->file.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
      holders.push_back(read_holder(**claim, fmt::format("{}/{}", root, name)));
    }
  }
  return holders;
}

}  // namespace berth
