// spawn: starts a program as cheaply as the kernel allows. The child borrows the parent's memory
// until it calls exec, as with vfork, but the parent does not wait for that. Measured on two cores,
// one thread starts as many programs a second this way as two threads that wait.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "base/result.h"

namespace berth {

/// The memory that a child runs on between clone and exec. It must outlive the child's exec. Once
/// the child has ended, it is safe to use it again.
class SpawnStack {
 public:
  SpawnStack();
  ~SpawnStack();
  SpawnStack(SpawnStack&& other) noexcept;
  SpawnStack& operator=(SpawnStack&&) = delete;

  void* base() const { return base_; }
  static constexpr std::size_t kSize = 64 * 1024;

 private:
  void* base_ = nullptr;
};

/// What the child does before exec. Everything that it points to must stay as it is until the child
/// has ended.
struct SpawnPlan {
  const char* path = nullptr;
  std::vector<char*> arguments;    // null-terminated
  std::vector<char*> environment;  // null-terminated
  int stdin_fd = 0;
  int stdout_fd = 1;
  int stderr_fd = 2;
  /// Sent to the child when the thread that started it dies; 0 is none.
  int death_signal = 0;
  /// Called in the child before exec; it may make raw system calls only (raw_syscall.h). Returns an
  /// errno, or 0 to go on.
  int (*prepare)(void* argument) = nullptr;
  void* prepare_argument = nullptr;
  /// errno of a failed exec or prepare, written by the child; the child then exits with 127.
  int error = 0;

  /// The vectors' elements, for the child. The child may not even call the vectors' members,
  /// because a sanitizer build would record those calls in the parent's state.
  char* const* argument_list = nullptr;
  char* const* environment_list = nullptr;
};

/// Starts a child in its own process group. With a `cgroup` directory descriptor (else -1), the
/// child is born inside that cgroup.
Result<pid_t> spawn(SpawnPlan& plan, const SpawnStack& stack, int cgroup);

/// The same for a caller that has every signal blocked. A negative result is an errno.
long spawn_masked(SpawnPlan& plan, const SpawnStack& stack, int cgroup);

/// Whether a process that is born into this cgroup lives. Tries it with a process that ends at
/// once, and waits at most half a second for that.
bool can_be_born_in(int cgroup);

}  // namespace berth
