// What happens in the job's own process between clone and exec: it writes down who it is, becomes
// the user, and opens its files as that user. It shares the shim's memory meanwhile, so all of it
// is raw system calls.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>

#include "base/user.h"
#include "exec/attempt_record.h"
#include "exec/inheritance.h"

namespace berth {

/// The first descriptor that a job inherits: the lock on the attempt's file, which so is free only
/// when shim and job are both gone. Read-only, so that a job of another user cannot write its
/// record. Above what scripts number by hand (dash stops at 9), below what makes the kernel enlarge
/// the table.
inline constexpr int kJobLockFd = 50;
/// Those after it are the locks of its devices, as far as the table goes: a job whose shim and
/// daemon are both dead still uses its devices.
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
  std::optional<UserIdentity> become;  // none: stays who the shim is
  const LoginLimits& limits;           // of whom it becomes
  const char* directory = "";          // empty: the root
  const char* stdout_path = "";        // empty: nowhere; relative to the directory
  const char* stderr_path = "";        // empty: with stdout
  /// Where it failed, written by the child.
  StartStep failed = StartStep::None;
};

/// For SpawnPlan::prepare; the argument is a ChildSetup.
int set_up_child(void* argument);

}  // namespace berth
