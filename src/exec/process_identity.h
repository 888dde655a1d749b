// Which process a number means. Numbers are used again, so a process that is written down is
// written with the time of its start, and a process that is read back is believed only when that
// still fits.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>

#include "base/fd.h"

namespace berth {

/// The kernel counts starts in clock ticks since boot. Who starts a process knows the tick without
/// asking /proc: it lies between the clock before and the clock after, nearly always one and the
/// same tick.
struct ProcessIdentity {
  pid_t pid = 0;
  std::uint64_t first_tick = 0;
  std::uint64_t last_tick = 0;

  friend bool operator==(const ProcessIdentity&, const ProcessIdentity&) = default;
};

std::uint64_t nanoseconds_per_tick();
std::uint64_t current_tick();

/// A descriptor of that very process, none when it is gone; a zombie is gone.
Fd open_process(const ProcessIdentity& identity);

/// A descriptor of whatever process has this number now.
Fd open_pid(pid_t pid);

/// The identity of a live process, read from /proc.
std::optional<ProcessIdentity> identify(pid_t pid);

/// The process behind a descriptor of it is signalled, never another. False when that is not
/// possible.
bool signal_process(int process, int signal);

/// What distinguishes this boot from all others; empty where it cannot be read.
std::string read_boot_id(const std::string& path);

}  // namespace berth
