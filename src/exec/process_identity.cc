#include "exec/process_identity.h"

#include <poll.h>
#include <sys/syscall.h>
#include <time.h>

#include <algorithm>

#include "base/process_facts.h"
#include "base/small_files.h"

namespace berth {
namespace {

/// A process descriptor is readable from the moment the process has ended.
bool ended(int process) {
  pollfd poll{process, POLLIN, 0};
  return ::poll(&poll, 1, 0) != 0;
}

}  // namespace

std::uint64_t nanoseconds_per_tick() {
  static const std::uint64_t length =
      1'000'000'000ULL / static_cast<std::uint64_t>(::sysconf(_SC_CLK_TCK));
  return length;
}

std::uint64_t current_tick() {
  timespec now{};
  ::clock_gettime(CLOCK_BOOTTIME, &now);
  return (static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000ULL +
          static_cast<std::uint64_t>(now.tv_nsec)) /
         nanoseconds_per_tick();
}

std::optional<ProcessIdentity> identify(pid_t pid) {
  const std::optional<ProcStat> stat = read_proc_stat(pid);
  return stat && stat->alive() ? std::optional(ProcessIdentity{pid, stat->start, stat->start})
                               : std::nullopt;
}

Fd open_pid(pid_t pid) { return Fd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0))); }

Fd open_process(const ProcessIdentity& identity) {
  if (identity.pid <= 0) {
    return Fd();
  }
  // The descriptor pins the process; only then is it certain whose start time is read.
  Fd process = open_pid(identity.pid);
  if (!process || ended(process.get())) {
    return Fd();
  }
  const std::optional<ProcessIdentity> now = identify(identity.pid);
  if (!now || now->first_tick < identity.first_tick || now->first_tick > identity.last_tick) {
    return Fd();
  }
  return process;
}

bool signal_process(int process, int signal) {
  return ::syscall(SYS_pidfd_send_signal, process, signal, nullptr, 0) == 0;
}

std::string read_boot_id(const std::string& path) {
  std::string text = read_small_file(path).value_or("");
  text.resize(std::min(text.find_first_of(" \n"), text.size()));
  return text;
}

}  // namespace berth
