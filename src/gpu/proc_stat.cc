#include "gpu/proc_stat.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>

#include "base/fd.h"

namespace berth {

std::optional<std::string> read_small_file(const std::string& path, std::size_t limit) {
  const Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) {
    return std::nullopt;
  }
  std::string text;
  std::array<char, 4096> block;
  while (text.size() < limit) {
    const ssize_t got =
        ::read(file.get(), block.data(), std::min(block.size(), limit - text.size()));
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got < 0) {
      return std::nullopt;
    }
    if (got == 0) {
      break;
    }
    text.append(block.data(), static_cast<std::size_t>(got));
  }
  return text;
}

std::optional<ProcStat> read_proc_stat(const std::string& proc, pid_t pid) {
  const std::optional<std::string> text = read_small_file(fmt::format("{}/{}/stat", proc, pid));
  if (!text) {
    return std::nullopt;
  }
  // The name stands in brackets and may itself hold blanks and brackets: start behind the last one.
  const std::size_t name_end = text->rfind(')');
  if (name_end == text->npos) {
    return std::nullopt;
  }
  ProcStat stat;
  unsigned long long start = 0;
  const int fields = std::sscanf(text->c_str() + name_end + 1,
                                 " %c %d %d %d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d "
                                 "%*d %*d %llu",
                                 &stat.state, &stat.parent, &stat.group, &stat.session, &start);
  if (fields != 5) {
    return std::nullopt;
  }
  stat.start = start;
  return stat;
}

}  // namespace berth
