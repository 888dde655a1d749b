#include "base/foreign_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>

namespace berth {
namespace {

/// Without opening what is there: the descriptor can be asked what it is, and nothing else. Nor is
/// a mount entered: another user's program may stand behind it, and never answer.
Fd find_below(int folder, const std::string& path, int flags) {
  open_how how{};
  how.flags = static_cast<std::uint64_t>(O_PATH | O_NOFOLLOW | O_CLOEXEC | flags);
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_XDEV;
  return Fd(static_cast<int>(::syscall(SYS_openat2, folder, path.c_str(), &how, sizeof how)));
}

Failure not_plain(const std::string& path) {
  return fail(ErrorCode::Refused, fmt::format("{} is not a plain file", path));
}

/// ELOOP is the kernel's word for a link in the way, EXDEV for a path that leads out or into a
/// mount.
Failure not_found(const std::string& path, int error) {
  if (error == ELOOP || error == EXDEV) {
    return fail(ErrorCode::Refused,
                fmt::format("{} leads through a link or a mount, or out of its folder", path));
  }
  Failure failure = fail_errno(path, error);
  failure.value().code = error == ENOENT ? ErrorCode::NotFound : ErrorCode::Io;
  return failure;
}

}  // namespace

Result<Fd> open_below(int folder, const std::string& path) {
  const Fd found = find_below(folder, path, 0);
  if (!found) {
    return not_found(path, errno);
  }
  struct stat info {};
  if (::fstat(found.get(), &info) != 0 || !S_ISREG(info.st_mode)) {
    return not_plain(path);
  }
  // The very file that was looked at, whatever has its name now.
  Fd file(::open(fmt::format("/proc/self/fd/{}", found.get()).c_str(),
                 O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  if (!file) {
    return not_found(path, errno);
  }
  return file;
}

Result<Fd> open_folder_below(int folder, const std::string& path) {
  const Fd found = find_below(folder, path, O_DIRECTORY);
  if (!found) {
    return not_found(path, errno);
  }
  Fd opened(::openat(found.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!opened) {
    return not_found(path, errno);
  }
  return opened;
}

Result<Fd> make_folder_below(int folder, const std::string& name, uid_t owner) {
  const bool made = ::mkdirat(folder, name.c_str(), 0700) == 0;
  if (!made && errno != EEXIST) {
    return fail_errno(fmt::format("cannot make {}", name), errno);
  }
  Fd found = find_below(folder, name, O_DIRECTORY);
  struct stat info {};
  if (!found || ::fstat(found.get(), &info) != 0) {
    return not_found(name, errno);
  }
  // What is this process's own it has made: now, or before it died and could give it away.
  if (info.st_uid == ::geteuid() && owner != info.st_uid &&
      ::fchownat(found.get(), "", owner, static_cast<gid_t>(-1), AT_EMPTY_PATH) == 0) {
    info.st_uid = owner;
  }
  if (info.st_uid != owner) {
    return fail(ErrorCode::Refused, fmt::format("{} is not a folder of user {}", name, owner));
  }
  return found;
}

Result<void> remove_below(int folder, const std::string& path) {
  const std::size_t slash = path.rfind('/');
  const std::string name = slash == path.npos ? path : path.substr(slash + 1);
  const Fd parent =
      find_below(folder, slash == path.npos ? "." : path.substr(0, slash), O_DIRECTORY);
  if (!parent || ::unlinkat(parent.get(), name.c_str(), 0) != 0) {
    return not_found(path, errno);
  }
  return {};
}

Result<std::string> read_below(int folder, const std::string& path, std::size_t most) {
  const Result<Fd> file = open_below(folder, path);
  if (!file) {
    return Failure(file.error());
  }
  std::string text(most, '\0');
  std::size_t size = 0;
  while (size < most) {
    const ssize_t got = ::read(file->get(), text.data() + size, most - size);
    if (got < 0 && errno != EINTR) {
      return fail_errno(path, errno);
    }
    if (got == 0) {
      break;
    }
    size += static_cast<std::size_t>(std::max<ssize_t>(got, 0));
  }
  text.resize(size);
  return text;
}

}  // namespace berth
