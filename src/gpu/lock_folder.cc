#include "gpu/lock_folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <pwd.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "base/units.h"

namespace berth {
namespace {

constexpr mode_t kForEverybody = 01777;
constexpr std::size_t kMostText = 4096;  // of an owner's file

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
  std::uint64_t random = 0;
  (void)!::getrandom(&random, sizeof random, 0);
  const std::size_t slash = path.find_last_of('/');
  return fmt::format("{}/.new-{:016x}", slash == path.npos ? "." : path.substr(0, slash), random);
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
  const passwd* entry = ::getpwuid(user);
  return entry != nullptr ? std::string(entry->pw_name) : std::to_string(user);
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
  const bool there = ::stat("/run/lock/berth", &info) == 0;
  const bool for_everybody = ::stat("/run/lock", &info) == 0 && S_ISDIR(info.st_mode) &&
                             (info.st_mode & kForEverybody) == kForEverybody;
  return there || for_everybody ? "/run/lock/berth" : "/tmp/berth-locks";
}

Result<Fd> open_shared_folder(const std::string& path) {
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
  if (!folder || ::faccessat(folder.get(), ".", W_OK | X_OK, AT_EACCESS) != 0) {
    struct stat info {};
    (void)::stat(path.c_str(), &info);
    return fail(ErrorCode::Io,
                fmt::format("the folder of device locks {} cannot be written: {} must say `chmod "
                            "1777 {}`, or set BERTH_LOCKS to a folder for all users of these GPUs",
                            path, user_name(info.st_uid), path));
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

std::string escape_file_name(std::string_view key) {
  std::string name;
  std::uint64_t hash = 0xcbf29ce484222325;  // FNV-1a
  for (const char c : key) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '-' || c == '_' || (c == '.' && !name.empty());
    name += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  constexpr std::size_t kLongest = 200;
  if (name.size() > kLongest) {
    name = fmt::format("{}%{:016x}", name.substr(0, kLongest), hash);
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

std::optional<Fd> open_owner_file(int folder, const std::string& name, struct stat& info) {
  if (name.starts_with('.')) {
    return std::nullopt;
  }
  // Without O_NONBLOCK a pipe would keep us waiting.
  Fd file(::openat(folder, name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!file || ::fstat(file.get(), &info) != 0 || !S_ISREG(info.st_mode)) {
    return std::nullopt;
  }
  return file;
}

std::vector<std::string> visible_names(int folder) {
  std::vector<std::string> names;
  const int again = ::openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (again < 0) {
    return names;
  }
  DIR* listing = ::fdopendir(again);
  if (listing == nullptr) {
    ::close(again);
    return names;
  }
  while (const dirent* entry = ::readdir(listing)) {
    if (entry->d_name[0] != '.') {
      names.emplace_back(entry->d_name);
    }
  }
  ::closedir(listing);
  std::sort(names.begin(), names.end());
  return names;
}

LockHolder read_holder(int file, const struct stat& info, std::string path) {
  char text[kMostText];
  const ssize_t size = ::pread(file, text, sizeof text, 0);
  return decode_holder({text, static_cast<std::size_t>(std::max<ssize_t>(size, 0))}, info.st_uid,
                       std::move(path));
}

FolderMutex::FolderMutex(int folder) : folder_(folder) {
  while (::flock(folder_, LOCK_EX) != 0 && errno == EINTR) {
  }
}

FolderMutex::~FolderMutex() { ::flock(folder_, LOCK_UN); }

std::vector<LockHolder> list_lock_holders(const std::string& root) {
  std::vector<LockHolder> holders;
  constexpr int kFlags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
  const Fd top(::open(root.c_str(), kFlags));
  if (!top) {
    return holders;
  }
  for (const std::string& device : visible_names(top.get())) {
    const Fd folder(::openat(top.get(), device.c_str(), kFlags));
    if (!folder) {
      continue;
    }
    const FolderMutex mutex(folder.get());
    for (const std::string& name : visible_names(folder.get())) {
      struct stat info {};
      const std::optional<Fd> file = open_owner_file(folder.get(), name, info);
      if (file && ::flock(file->get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
        holders.push_back(
            read_holder(file->get(), info, fmt::format("{}/{}/{}", root, device, name)));
      }
    }
  }
  return holders;
}

}  // namespace berth
