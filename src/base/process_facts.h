// Facts about a process from /proc. The start time tells a process from a later one with the same
// pid.
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

  /// A zombie still has an entry in /proc, but no longer holds anything.
  bool alive() const { return state != 'Z' && state != 'X' && state != 'x'; }
};

/// Absent when there is no such process. `proc` is the root; tests use another one.
std::optional<ProcStat> read_proc_stat(pid_t pid, const std::string& proc = "/proc");

/// The real user of a process, whatever owner its files in /proc show.
std::optional<uid_t> user_of_process(pid_t pid, const std::string& proc = "/proc");

}  // namespace berth
