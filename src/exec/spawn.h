// spawn: starts a program as cheaply as the kernel allows. The child borrows the parent's memory
// until it calls exec, as with vfork, but the parent does not wait for that: measured on two cores,
// one thread starts as many programs a second as two that wait.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "base/result.h"

namespace berth {

/// The memory a child runs on between clone and exec. It must outlive the child's exec; the end of
/// the child is a safe moment to use it again.
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

/// What the child does before exec. All that it points to must stay as it is until the child has
/// ended.
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

  /// Where the vectors' elements are, for the child: it may not even call their members, which a
  /// sanitizer's build would have count on the parent's books.
  char* const* argument_list = nullptr;
  char* const* environment_list = nullptr;
};

/// Starts a child in a process group of its own. With a `cgroup` directory descriptor (else -1) it
/// is born inside that cgroup.
Result<pid_t> spawn(SpawnPlan& plan, const SpawnStack& stack, int cgroup);

/// The same for a caller that has every signal blocked. A negative result is an errno.
long spawn_masked(SpawnPlan& plan, const SpawnStack& stack, int cgroup);

/// Whether a process that is born into this cgroup lives: tries it with one that ends at once.
/// Waits for that, at most half a second.
bool can_be_born_in(int cgroup);

}  // namespace berth
