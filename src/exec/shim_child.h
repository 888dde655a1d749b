// The job's own process between clone and exec: it records its identity, becomes the user, and
// opens its files as that user. Meanwhile it shares the shim's memory, so it makes raw system calls
// only.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>

#include "base/user.h"
#include "exec/attempt_record.h"
#include "exec/inheritance.h"

namespace berth {

/// The first descriptor that a job inherits: the lock on the attempt's file. So the lock is free
/// only when both shim and job are gone. The descriptor is read-only, so that a job of another user
/// cannot write its record. Its number is above those that scripts use by hand (dash stops at 9),
/// and below those that make the kernel enlarge the table.
inline constexpr int kJobLockFd = 50;
/// The descriptors up to this one are the locks of the job's devices, as far as the table goes,
/// because a job whose shim and daemon are both dead still uses its devices.
inline constexpr int kLastJobLockFd = 63;

struct ChildSetup {
  ChildSetup(const AttemptName& name, const std::string& boot_id, const std::string& cgroup,
             const LoginLimits& login)
      : record(name, boot_id, cgroup), limits(login) {}

  UnbornRecord record;
  std::uint64_t tick_length = 1;
  int record_fd = -1;
  int lock_fd = -1;
  const int* device_locks = nullptr;
  int device_lock_count = 0;
  std::optional<UserIdentity> become;  // none: keeps the shim's user
  const LoginLimits& limits;           // of the user it becomes
  const char* directory = "";          // empty: the root
  const char* stdout_path = "";        // empty: nowhere; relative to the directory
  const char* stderr_path = "";        // empty: with stdout
  /// The step that failed, written by the child.
  StartStep failed = StartStep::None;
};

/// For SpawnPlan::prepare; the argument is a ChildSetup.
int set_up_child(void* argument);

}  // namespace berth
