#include "exec/shim_child.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <time.h>

#include "exec/raw_syscall.h"

namespace berth {
namespace {

BERTH_UNSANITIZED long write_record(ChildSetup& setup) {
  timespec now{};
  raw_syscall(SYS_clock_gettime, CLOCK_BOOTTIME, raw_address(&now));
  const std::uint64_t nanoseconds = static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000ULL +
                                    static_cast<std::uint64_t>(now.tv_nsec);
  setup.record.seal(static_cast<pid_t>(raw_syscall(SYS_getpid)), nanoseconds / setup.tick_length);
  const auto size = static_cast<long>(setup.record.size());
  const long written =
      raw_syscall(SYS_write, setup.record_fd, raw_address(setup.record.data()), size);
  return written < 0 ? written : written == size ? 0 : -ENOSPC;
}

BERTH_UNSANITIZED long open_output(const char* path) {
  // For the user alone: what jobs print is theirs to show.
  constexpr long kMode = 0600;
  return raw_syscall(SYS_openat, AT_FDCWD, raw_address(path),
                     O_WRONLY | O_APPEND | O_CREAT | O_NOCTTY | O_CLOEXEC, kMode);
}

/// Makes every folder on the way to the file, as far as the user may.
BERTH_UNSANITIZED void make_folders_for(const char* path) {
  constexpr long kMode = 0777;  // less what the user's mask forbids
  char folder[PATH_MAX];
  for (int i = 0; i < PATH_MAX && path[i] != '\0'; ++i) {
    if (path[i] == '/' && i > 0) {
      folder[i] = '\0';
      raw_syscall(SYS_mkdirat, AT_FDCWD, raw_address(folder), kMode);
    }
    folder[i] = path[i];
  }
}

BERTH_UNSANITIZED long open_as(const char* path, int target) {
  long opened = open_output(path);
  if (opened == -ENOENT) {
    make_folders_for(path);
    opened = open_output(path);
  }
  return opened < 0 ? opened : raw_syscall(SYS_dup3, opened, target, 0);
}

BERTH_UNSANITIZED void inherit_device_locks(const int* locks, int count) {
  for (int i = 0; i < count && kJobLockFd + 1 + i <= kLastJobLockFd; ++i) {
    raw_syscall(SYS_dup3, locks[i], kJobLockFd + 1 + i, 0);
  }
}

BERTH_UNSANITIZED int fail_at(ChildSetup& setup, StartStep step, long result) {
  setup.failed = step;
  return static_cast<int>(-result);
}

}  // namespace

BERTH_UNSANITIZED int set_up_child(void* argument) {
  auto& setup = *static_cast<ChildSetup*>(argument);
  long result = write_record(setup);
  if (result < 0) {
    return fail_at(setup, StartStep::Record, result);
  }
  raw_syscall(SYS_dup3, setup.lock_fd, kJobLockFd, 0);
  // Now, not at exec: opening a named pipe may take for ever, and the launcher's lock is among
  // them.
  inherit_device_locks(setup.device_locks, setup.device_lock_count);
  raw_syscall(SYS_close_range, 3, kJobLockFd - 1, 0);
  if (setup.become) {
    result = become(*setup.become, setup.limits);
    if (result < 0) {
      return fail_at(setup, StartStep::User, result);
    }
  }
  join_session_keyring();
  result = raw_syscall(SYS_chdir, raw_address(setup.directory[0] == '\0' ? "/" : setup.directory));
  if (result < 0) {
    return fail_at(setup, StartStep::Directory, result);
  }
  if (setup.stdout_path[0] != '\0') {
    result = open_as(setup.stdout_path, 1);
    if (result < 0) {
      return fail_at(setup, StartStep::Output, result);
    }
  }
  result =
      setup.stderr_path[0] == '\0' ? raw_syscall(SYS_dup3, 1, 2, 0) : open_as(setup.stderr_path, 2);
  if (result < 0) {
    return fail_at(setup, StartStep::ErrorOutput, result);
  }
  setup.failed = StartStep::Command;
  return 0;
}

}  // namespace berth
