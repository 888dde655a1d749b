#include "daemon/output_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/inotify.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <string_view>

#include "base/fd.h"

namespace berth {
namespace {

/// Nobody else is served while the lines of a tail are counted.
constexpr std::uint64_t kFurthestTail = std::uint64_t{32} << 20;

/// Where the last `lines` lines begin, as far as it looks back.
std::uint64_t tail_offset(int file, std::uint64_t size, std::int64_t lines) {
  std::string block(std::size_t{64} * 1024, '\0');
  const std::uint64_t start = size > kFurthestTail ? size - kFurthestTail : 0;
  // A newline at the very end closes the last line and opens none.
  std::uint64_t end = size > 0 ? size - 1 : 0;
  while (end > start) {
    const std::uint64_t begin = std::max(start, end > block.size() ? end - block.size() : 0);
    const ssize_t got = ::pread(file, block.data(), static_cast<std::size_t>(end - begin),
                                static_cast<off_t>(begin));
    if (got <= 0) {
      return begin;
    }
    std::string_view text(block.data(), static_cast<std::size_t>(got));
    for (std::size_t at; (at = text.rfind('\n')) != text.npos; text = text.substr(0, at)) {
      if (--lines <= 0) {
        return begin + at + 1;
      }
    }
    end = begin;
  }
  return start;
}

std::uint64_t first_byte(const FileQuestion& question, int file, std::uint64_t size) {
  if (question.from_end) {
    return size - std::min<std::uint64_t>(size, question.most);
  }
  if (question.tail >= 0) {
    return question.tail == 0 ? size : tail_offset(file, size, question.tail);
  }
  return question.offset;
}

FileAnswer read_once(const FileQuestion& question) {
  FileAnswer answer;
  const Fd found(::open(question.path.c_str(), O_PATH | O_CLOEXEC));
  struct stat status {};
  if (!found || ::fstat(found.get(), &status) != 0) {
    answer.error = errno;
    return answer;
  }
  if (!S_ISREG(status.st_mode)) {
    answer.refused = true;
    return answer;
  }
  // The very file that was looked at, whatever has its name now.
  const Fd file(::open(fmt::format("/proc/self/fd/{}", found.get()).c_str(),
                       O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  if (!file) {
    answer.error = errno;
    return answer;
  }
  answer.size = static_cast<std::uint64_t>(status.st_size);
  answer.offset = first_byte(question, file.get(), answer.size);
  if (answer.offset < answer.size) {
    answer.bytes.resize(std::min<std::uint64_t>(question.most, answer.size - answer.offset));
    const ssize_t got = ::pread(file.get(), answer.bytes.data(), answer.bytes.size(),
                                static_cast<off_t>(answer.offset));
    answer.bytes.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  }
  return answer;
}

/// A job is known to run a moment before it opens its output: until then its folder is watched.
int add_watch(const std::string& path, int changes) {
  const int watch = ::inotify_add_watch(changes, path.c_str(), IN_MODIFY);
  if (watch >= 0 || errno != ENOENT) {
    return watch;
  }
  const std::string folder = path.substr(0, path.rfind('/') + 1);
  return ::inotify_add_watch(changes, folder.c_str(), IN_CREATE | IN_MOVED_TO);
}

}  // namespace

FileAnswer look_at(const FileQuestion& question, int changes) {
  FileAnswer answer = read_once(question);
  if (!question.watch || !answer.bytes.empty() || answer.refused ||
      (answer.error != 0 && answer.error != ENOENT)) {
    return answer;
  }
  // Watched first and looked at again, so that nothing written in between is missed.
  const int watch = add_watch(question.path, changes);
  FileQuestion again = question;
  if (answer.error == 0) {
    again.offset = answer.offset;
    again.tail = -1;
  }
  answer = read_once(again);
  answer.watch = watch;
  return answer;
}

}  // namespace berth
