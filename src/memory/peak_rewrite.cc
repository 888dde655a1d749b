#include "memory/peak_rewrite.h"

#include <errno.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <unordered_map>

#include "base/fd.h"
#include "base/paths.h"

namespace berth {
namespace {

/// Nobody learns from more runs of a recipe than these.
constexpr int kMostRuns = 300;

Failure failure(std::string_view what, const std::string& path) {
  return fail_errno(fmt::format("cannot {} {}", what, path), errno);
}

std::vector<PastRun> parse_all(std::string_view text) {
  std::vector<PastRun> runs;
  for (std::size_t at = 0, end = 0; (end = text.find('\n', at)) != text.npos; at = end + 1) {
    if (auto run = parse_past_run(text.substr(at, end - at))) {
      runs.push_back(std::move(*run));
    }
  }
  return runs;
}

/// The newest runs of each recipe, as many as half of the longest file holds.
std::string newest_lines(const std::vector<PastRun>& runs) {
  std::unordered_map<std::string_view, int> seen;
  std::vector<std::string> kept;
  std::size_t size = 0;
  for (std::size_t i = runs.size(); i-- > 0;) {
    if (++seen[runs[i].recipe.key] > kMostRuns) {
      continue;
    }
    kept.push_back(line_of(runs[i]));
    size += kept.back().size();
    if (size > static_cast<std::size_t>(kLongestPeaks) / 2) {
      kept.pop_back();
      break;
    }
  }
  std::string text;
  for (std::size_t i = kept.size(); i-- > 0;) {
    text += kept[i];
  }
  return text;
}

/// The file under its exclusive lock. Nothing but the name is looked at before the lock is there.
Result<Fd> lock(const std::string& path, int open_flags, int lock_flags) {
  while (true) {
    Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | open_flags, 0600));
    if (!file) {
      return failure("open", path);
    }
    while (::flock(file.get(), LOCK_EX | lock_flags) != 0) {
      if (errno != EINTR) {
        return failure("lock", path);
      }
    }
    if (is_at(file.get(), path)) {
      return file;
    }
  }
}

Result<void> check_owner(int file, const std::string& path) {
  struct stat status {};
  if (::fstat(file, &status) != 0) {
    return failure("read", path);
  }
  if (status.st_uid != ::geteuid()) {
    return fail(ErrorCode::Refused,
                fmt::format("{} belongs to another user, whose jobs it is about", path));
  }
  return {};
}

Result<void> replace(const std::string& path, const std::string& text) {
  const std::string fresh = path + ".new";
  ::unlink(fresh.c_str());  // of one that died
  const Fd out(::open(fresh.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!out || ::write(out.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size()) ||
      ::fdatasync(out.get()) != 0) {
    const Failure error = failure("write", fresh);
    ::unlink(fresh.c_str());
    return error;
  }
  return ::rename(fresh.c_str(), path.c_str()) == 0 ? Result<void>() : failure("replace", path);
}

}  // namespace

bool is_at(int file, const std::string& path) {
  struct stat opened {};
  struct stat named {};
  return ::fstat(file, &opened) == 0 && ::stat(path.c_str(), &named) == 0 &&
         opened.st_dev == named.st_dev && opened.st_ino == named.st_ino;
}

std::string read_from(int file, off_t at) {
  std::string bytes;
  char buffer[65536];
  for (ssize_t got = 0; (got = ::pread(file, buffer, sizeof buffer, at)) > 0; at += got) {
    bytes.append(buffer, static_cast<std::size_t>(got));
  }
  return bytes;
}

Result<void> rewrite_peaks(const std::string& path,
                           const std::function<void(std::vector<PastRun>&)>& change) {
  if (Result<void> made = make_folder(path.substr(0, path.rfind('/'))); !made) {
    return made;
  }
  const Result<Fd> file = lock(path, O_CREAT, 0);
  if (!file) {
    return Failure(file.error());
  }
  if (Result<void> own = check_owner(file->get(), path); !own) {
    return own;
  }
  std::vector<PastRun> runs = parse_all(read_from(file->get(), 0));
  change(runs);
  return replace(path, newest_lines(runs));
}

void shorten_peaks(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0 || status.st_size <= kLongestPeaks) {
    return;
  }
  const Result<Fd> file = lock(path, 0, LOCK_NB);
  if (file && check_owner(file->get(), path)) {
    // What makes no sense to this berth goes, too: the file must not grow without end.
    (void)replace(path, newest_lines(parse_all(read_from(file->get(), 0)))).has_value();
  }
}

Result<std::vector<PastRun>> read_peaks(const std::string& path) {
  const Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file && errno == ENOENT) {
    return std::vector<PastRun>{};
  }
  if (!file) {
    return failure("read", path);
  }
  return parse_all(read_from(file.get(), 0));
}

}  // namespace berth
