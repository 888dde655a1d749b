#include "exec/inheritance.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <linux/keyctl.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "base/fd.h"
#include "base/small_files.h"

namespace berth {
namespace {

// As <linux/ioprio.h> has them, which is C that C++ cannot read since linux-libc-dev 6.1.192.
constexpr int kDiskOfProcess = 1;  // IOPRIO_WHO_PROCESS
constexpr int kDiskRealTime = 1;   // IOPRIO_CLASS_RT
constexpr int kDiskClassShift = 13;

void shed_urgency() {
  const int policy = ::sched_getscheduler(0) & ~SCHED_RESET_ON_FORK;
  if (policy != SCHED_OTHER && policy != SCHED_BATCH && policy != SCHED_IDLE) {
    const sched_param usual{};
    ::sched_setscheduler(0, SCHED_OTHER, &usual);
  }
  if (::getpriority(PRIO_PROCESS, 0) < 0) {
    ::setpriority(PRIO_PROCESS, 0, 0);
  }
  const long disk = ::syscall(SYS_ioprio_get, kDiskOfProcess, 0);
  if (disk >= 0 && disk >> kDiskClassShift == kDiskRealTime) {
    ::syscall(SYS_ioprio_set, kDiskOfProcess, 0, 0);
  }
}

/// Who started the daemon may have protected it; its jobs are what memory is taken from.
void shed_memory_protection() {
  constexpr const char* kScore = "/proc/self/oom_score_adj";
  if (std::atoi(read_small_file(kScore).value_or("").c_str()) < 0) {
    const Fd file(::open(kScore, O_WRONLY | O_CLOEXEC));
    (void)!::write(file.get(), "0", 1);
  }
}

/// An empty keyring that can be searched and nothing else: what a job is left with whose user may
/// not make another one.
void shed_keyring() {
  constexpr long kSearchOnly = 0x09000000;  // KEY_POS_VIEW | KEY_POS_SEARCH
  if (::syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, nullptr) >= 0) {
    ::syscall(SYS_keyctl, KEYCTL_SETPERM, KEY_SPEC_SESSION_KEYRING, kSearchOnly);
  }
}

}  // namespace

LoginLimits::LoginLimits() {
  for (int i = 0; i < RLIM_NLIMITS; ++i) {
    const auto number = static_cast<__rlimit_resource>(i);
    rlimit own{};
    rlimit first{};
    ::getrlimit(number, &own);
    if (::prlimit(1, number, nullptr, &first) != 0) {
      first = own;
    }
    first.rlim_max = std::min(first.rlim_max, own.rlim_max);
    first.rlim_cur = std::min(first.rlim_cur, first.rlim_max);
    limits_[i] = first;
  }
}

void LoginLimits::take() const {
  for (int i = 0; i < RLIM_NLIMITS; ++i) {
    raw_syscall(SYS_prlimit64, 0, i, raw_address(&limits_[i]), 0);
  }
}

void shed_daemon_privileges() {
  shed_urgency();
  shed_memory_protection();
  shed_keyring();
}

long become(const UserIdentity& identity, const LoginLimits& limits) {
  constexpr long kUmask = 022;
  limits.take();
  raw_syscall(SYS_umask, kUmask);
  long failed = raw_syscall(SYS_setgroups, static_cast<long>(identity.groups.size()),
                            raw_address(identity.groups.data()));
  if (failed == 0) {
    failed = raw_syscall(SYS_setresgid, identity.group, identity.group, identity.group);
  }
  if (failed == 0) {
    failed = raw_syscall(SYS_setresuid, identity.user, identity.user, identity.user);
  }
  if (failed == 0) {
    // Leaving root takes away all but those that programs may inherit, and with some secure bits
    // none at all.
    const __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
    const __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {};
    failed = raw_syscall(SYS_capset, raw_address(&header), raw_address(none));
  }
  return failed;
}

void join_session_keyring() {
  if (raw_syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, 0) >= 0) {
    raw_syscall(SYS_keyctl, KEYCTL_LINK, KEY_SPEC_USER_KEYRING, KEY_SPEC_SESSION_KEYRING);
  }
}

}  // namespace berth
