#include "cluster/conf_files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <ctime>
#include <filesystem>

#include "base/fd.h"
#include "base/read_file.h"

namespace berth {
namespace {

Result<void> write_new_file(const std::string& path, std::string_view text,
                            const FileOwner& owner) {
  const Fd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!file) {
    return fail_errno(fmt::format("cannot write {}", path), errno);
  }
  if (!owner.user.empty()) {
    const passwd* user = ::getpwnam(owner.user.c_str());
    if (user == nullptr) {
      return fail(ErrorCode::NotFound, fmt::format("there is no user '{}'", owner.user));
    }
    if (::fchown(file.get(), user->pw_uid, user->pw_gid) != 0) {
      return fail_errno(fmt::format("cannot give {} to {}", path, owner.user), errno);
    }
  }
  if (::write(file.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size()) ||
      ::fchmod(file.get(), owner.mode) != 0 || ::fsync(file.get()) != 0) {
    return fail_errno(fmt::format("cannot write {}", path), errno);
  }
  return {};
}

std::string backup_name(const std::string& path) {
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  ::localtime_r(&now, &local);
  const std::string name =
      fmt::format("{}.berth-{:04}{:02}{:02}-{:02}{:02}{:02}", path, local.tm_year + 1900,
                  local.tm_mon + 1, local.tm_mday, local.tm_hour, local.tm_min, local.tm_sec);
  std::string free = name;
  for (int i = 2; ::access(free.c_str(), F_OK) == 0; ++i) {
    free = fmt::format("{}-{}", name, i);
  }
  return free;
}

}  // namespace

bool differs(const std::string& path, std::string_view text) {
  const Result<std::string> there = read_file(path);
  return there ? *there != text : there.error().code != ErrorCode::NotFound;
}

Result<std::string> write_conf_file(const std::string& path, std::string_view text,
                                    const FileOwner& owner) {
  std::error_code problem;
  std::filesystem::create_directories(path.substr(0, path.rfind('/')), problem);
  const std::string fresh = path + ".new";
  ::unlink(fresh.c_str());
  if (const Result<void> written = write_new_file(fresh, text, owner); !written) {
    ::unlink(fresh.c_str());
    return Failure(written.error());
  }
  std::string backup;
  if (differs(path, text)) {
    backup = backup_name(path);
    if (::link(path.c_str(), backup.c_str()) != 0) {
      return fail_errno(fmt::format("cannot keep {} as {}", path, backup), errno);
    }
  }
  if (::rename(fresh.c_str(), path.c_str()) != 0) {
    return fail_errno(fmt::format("cannot write {}", path), errno);
  }
  return backup;
}

}  // namespace berth
