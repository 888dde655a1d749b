// What a job must not inherit. Children inherit everything that a process has, and so do their own
// children. So the launcher gives up what was meant for the daemon alone, and the job's process
// gives up what was meant for the daemon's user. Privileges go. Restrictions (on processors, on the
// capabilities that can be had) stay, because they were meant for the jobs, too.
#pragma once

#include <sys/resource.h>

#include "base/user.h"
#include "exec/raw_syscall.h"

namespace berth {

/// The limits of a user who logs in: those of the first process, as with pam_limits, but never
/// above the daemon's own hard limits.
class LoginLimits {
 public:
  /// Reads the limits that the kernel has now. If it does not show those of the first process,
  /// takes the daemon's.
  LoginLimits();
  /// Safe in a child that shares its parent's memory.
  BERTH_UNSANITIZED void take() const;

 private:
  rlimit limits_[RLIM_NLIMITS] = {};
};

/// Called once, in the launcher. Gives up a raised priority, protection from running out of memory,
/// and the session keyring of the user who started the daemon.
void shed_daemon_privileges();

// In the job's own process, which shares its parent's memory.

/// Makes this process one of that user: limits, umask, groups, ids, no capabilities. Returns 0 or a
/// negative errno.
BERTH_UNSANITIZED long become(const UserIdentity& identity, const LoginLimits& limits);
/// Joins a session keyring that no other job has, with the user's own keyring in it. Must be called
/// as that user.
BERTH_UNSANITIZED void join_session_keyring();

}  // namespace berth
