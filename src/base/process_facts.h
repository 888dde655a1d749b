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

/// Absent where there is no such process. `proc` is the root, another one in tests.
std::optional<ProcStat> read_proc_stat(pid_t pid, const std::string& proc = "/proc");

/// The real user of a process, whatever it lets /proc say of its files.
std::optional<uid_t> user_of_process(pid_t pid, const std::string& proc = "/proc");

}  // namespace berth
