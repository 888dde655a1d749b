#include "store/store_files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>

#include "base/fd.h"
#include "store/redo_log.h"

namespace berth {
namespace {

std::string folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == path.npos ? "." : path.substr(0, slash + 1);
}

/// So that the new name outlives a loss of power.
Result<void> sync_folder(const std::string& path) {
  const Fd folder(::open(folder_of(path).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder || ::fsync(folder.get()) != 0) {
    return fail_errno(fmt::format("cannot sync the folder of {}", path), errno);
  }
  return {};
}

bool holds_anything(const std::string& path) {
  struct stat file {};
  return ::stat(path.c_str(), &file) == 0 && S_ISREG(file.st_mode) && file.st_size > 0;
}

}  // namespace

StoreFiles::StoreFiles(std::string path)
    : files_{File{path, 0, 0, 0, true}, File{path + "-wal"}, File{path + "-redo", 0, 0, 0, true}} {
  for (File& file : files_) {
    struct stat now {};
    if (::stat(file.path.c_str(), &now) == 0) {
      file.device = now.st_dev;
      file.inode = now.st_ino;
      file.size = now.st_size;
    }
  }
}

std::optional<StoreFiles::Problem> StoreFiles::problem(std::int64_t committed) {
  for (File& file : files_) {
    struct stat now {};
    if (file.inode == 0) {
      continue;
    }
    if (::stat(file.path.c_str(), &now) != 0) {
      return Problem{errno == ENOENT ? fmt::format("{} is gone", file.path)
                                     : fmt::format("{} is out of reach ({})", file.path,
                                                   strerrordesc_np(errno))};
    }
    if (now.st_dev != file.device || now.st_ino != file.inode) {
      return Problem{fmt::format("{} is another file now", file.path)};
    }
    const bool database = &file == &files_[0];
    const off_t least = database ? std::min<off_t>(file.size, committed) : file.size;
    if (file.grows && now.st_size < least) {
      return Problem{fmt::format("{} was cut off at {} bytes", file.path, now.st_size), database};
    }
    file.size = now.st_size;
  }
  return std::nullopt;
}

Result<void> check_absence(const std::string& path) {
  if (holds_anything(path + "-rescue")) {
    return fail(ErrorCode::Refused,
                fmt::format("{0} is missing: the last daemon ended while it wrote a deleted queue "
                            "anew. Take what it wrote (mv {0}-rescue {0}), put a backup in its "
                            "place, or begin with an empty queue (rm {0}-rescue)",
                            path));
  }
  if (holds_anything(path + "-wal") || RedoLog::holds_entries(path)) {
    return fail(ErrorCode::Refused,
                fmt::format("{0} is missing, and the logs beside it have jobs that only make sense "
                            "with it: put it or a backup in its place, or begin with an empty "
                            "queue (mv {0}* ELSEWHERE)",
                            path));
  }
  return {};
}

Result<void> give_name(const std::string& made, const std::string& path) {
  // A log that is found beside a database is applied to it, whosever it is.
  ::unlink((path + "-wal").c_str());
  if (::rename(made.c_str(), path.c_str()) != 0) {
    return fail_errno(fmt::format("cannot make {}", path), errno);
  }
  return sync_folder(path);
}

Result<std::string> set_aside(const std::string& path) {
  for (int i = 1;; ++i) {
    std::string kept = fmt::format("{}.{}.found", path, i);
    if (::renameat2(AT_FDCWD, path.c_str(), AT_FDCWD, kept.c_str(), RENAME_NOREPLACE) == 0) {
      ::rename((path + "-wal").c_str(), (kept + "-wal").c_str());
      return kept;
    }
    if (errno != EEXIST) {
      return fail_errno(fmt::format("cannot move {} out of the way", path), errno);
    }
  }
}

Result<void> make_fresh_file(const std::string& path) {
  for (const char* old : {"", "-journal", "-wal"}) {
    ::unlink((path + old).c_str());
  }
  if (!Fd(::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600))) {
    return fail_errno(fmt::format("cannot make {}", path), errno);
  }
  return {};
}

}  // namespace berth
