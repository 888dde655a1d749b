#include "exec/shim_process.h"

#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <memory>

#include "base/failpoint.h"
#include "exec/launcher.h"
#include "exec/process_identity.h"
#include "exec/raw_syscall.h"

namespace berth {
namespace {

/// The kernel's signal sets are one word.
constexpr long kSetSize = 8;

/// What was sent to the attempt before, or to nobody, is not for the next. Requests bear the mark
/// of theirs.
void drop_signals() {
  const std::uint64_t wanted = std::uint64_t{1} << (SIGTERM - 1) | std::uint64_t{1} << (SIGINT - 1);
  const timespec at_once{};
  while (raw_syscall(SYS_rt_sigtimedwait, raw_address(&wanted), 0, raw_address(&at_once),
                     kSetSize) > 0) {
  }
}

/// The attempts that follow the first. The launcher's descriptors of newborn shims are closed by
/// now.
void go_on(const ProcessIdentity& self, const ShimTools& tools, int wire) {
  const auto bytes = std::make_unique_for_overwrite<char[]>(kLongestOnWire);
  int lock = -1;
  bool more = true;
  while (more && receive_next(wire, bytes.get(), lock)) {
    (void)BERTH_FAILPOINT("shim.taken");
    drop_signals();
    Shim next(bytes.get(), tools);
    more = next.run(self, {wire, lock, wire});
    (void)BERTH_FAILPOINT("shim.after_report");
  }
}

}  // namespace

void run_shim(Shim& first, const ShimTools& tools, int wire, std::uint64_t first_tick) noexcept {
  raw_syscall(SYS_close, kRequestsFd);
  const std::uint64_t default_action[4] = {};
  raw_syscall(SYS_rt_sigaction, SIGCHLD, raw_address(default_action), 0, kSetSize);
  raw_syscall(SYS_setsid);
  raw_syscall(SYS_prctl, PR_SET_NAME, raw_address("berth-shim"));
  raw_syscall(SYS_prctl, PR_SET_CHILD_SUBREAPER, 1);
  const ProcessIdentity self{static_cast<pid_t>(raw_syscall(SYS_getpid)), first_tick,
                             current_tick()};
  const bool more = first.run(self, {kMessagesFd, kLauncherLockFd, wire});
  (void)BERTH_FAILPOINT("shim.after_report");
  if (more) {
    go_on(self, tools, wire);
  }
  raw_syscall(SYS_exit_group, 0);
  __builtin_unreachable();
}

}  // namespace berth
