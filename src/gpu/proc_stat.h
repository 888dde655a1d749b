// Facts about a process from /proc. The start time beside a pid is what tells a process from a
// later one that was given the same number.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>

namespace berth {

struct ProcStat {
  char state = '?';
  pid_t parent = 0;
  pid_t group = 0;
  pid_t session = 0;
  std::uint64_t start = 0;  // clock ticks after boot

  /// A zombie has an entry in /proc, but holds nothing any more.
  bool alive() const { return state != 'Z' && state != 'X' && state != 'x'; }
};

/// Absent where there is no such process. `proc` is the root, "/proc" outside tests.
std::optional<ProcStat> read_proc_stat(const std::string& proc, pid_t pid);

/// At most `limit` bytes of a file, which may well be a file of /proc that has no size.
std::optional<std::string> read_small_file(const std::string& path, std::size_t limit = 1 << 20);

}  // namespace berth
