// Identifies processes. The kernel reuses process numbers, so a process is recorded with the time
// of its start, and a recorded process is believed only if that time still matches.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>

#include "base/fd.h"

namespace berth {

/// The kernel counts start times in clock ticks since boot. The process that starts another knows
/// the tick without asking /proc: it lies between the clock before and the clock after, nearly
/// always one and the same tick.
struct ProcessIdentity {
  pid_t pid = 0;
  std::uint64_t first_tick = 0;
  std::uint64_t last_tick = 0;

  friend bool operator==(const ProcessIdentity&, const ProcessIdentity&) = default;
};

std::uint64_t nanoseconds_per_tick();
std::uint64_t current_tick();

/// A descriptor of that very process; none when it is gone. A zombie counts as gone.
Fd open_process(const ProcessIdentity& identity);

/// A descriptor of the process that has this number now.
Fd open_pid(pid_t pid);

/// The identity of a live process, read from /proc.
std::optional<ProcessIdentity> identify(pid_t pid);

/// Signals the process behind this descriptor, never another. False when that is not possible.
bool signal_process(int process, int signal);

/// The id that distinguishes this boot from all others; empty if it cannot be read.
std::string read_boot_id(const std::string& path);

}  // namespace berth
