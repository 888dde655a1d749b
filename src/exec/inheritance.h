// What a job must not inherit. Whatever a process has its children get, and theirs; so the launcher
// gives up what was meant for the daemon alone, and the job's process what was meant for the
// daemon's user. Privileges go; restrictions (of processors, of the capabilities that can be had)
// stay, for whoever set them meant the jobs, too.
#pragma once

#include <sys/resource.h>

#include "base/user.h"
#include "exec/raw_syscall.h"

namespace berth {

/// The limits of one who logs in: those of the first process, as pam_limits has it, but never above
/// the daemon's own hard limits.
class LoginLimits {
 public:
  /// As the kernel has them now. Where it does not show those of the first process, the daemon's.
  LoginLimits();
  /// Safe in a child that shares its parent's memory.
  BERTH_UNSANITIZED void take() const;

 private:
  rlimit limits_[RLIM_NLIMITS] = {};
};

/// In the launcher, once: an urgency above the usual, protection from running out of memory, and
/// the session keyring of whoever started the daemon.
void shed_daemon_privileges();

// In the job's own process, which shares its parent's memory.

/// All of what makes a process one of that user: limits, umask, groups, numbers, no capabilities.
/// Returns a negative errno.
BERTH_UNSANITIZED long become(const UserIdentity& identity, const LoginLimits& limits);
/// A session keyring that no other job has, with the user's own keyring in it. To be called as that
/// user.
BERTH_UNSANITIZED void join_session_keyring();

}  // namespace berth
