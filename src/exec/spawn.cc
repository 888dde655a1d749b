// The child shares all memory with the running parent, thread-local storage and errno included. So
// it must not return, allocate, or call anything that may write errno: it makes raw system calls
// only.
#include "exec/spawn.h"

#include <linux/sched.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <utility>

#include "base/check.h"
#include "base/fd.h"
#include "exec/raw_syscall.h"

namespace berth {
namespace {

using ChildMain = void (*)(void*);

#if defined(__x86_64__)

/// The child starts on its new stack, where this function's frame is not: it goes on in `main` at
/// once.
inline long raw_clone3(const clone_args* arguments, ChildMain main, void* argument) {
  long result;
  register void* r8 asm("r8") = argument;
  asm volatile(
      "syscall\n\t"
      "test %%rax, %%rax\n\t"
      "jnz 1f\n\t"
      "xor %%ebp, %%ebp\n\t"
      "mov %%r8, %%rdi\n\t"
      "call *%%rdx\n\t"
      "ud2\n"
      "1:"
      : "=a"(result)
      : "a"(SYS_clone3), "D"(arguments), "S"(sizeof(clone_args)), "d"(main), "r"(r8)
      : "rcx", "r11", "memory", "cc");
  return result;
}

#elif defined(__aarch64__)

inline long raw_clone3(const clone_args* arguments, ChildMain main, void* argument) {
  register long x8 asm("x8") = SYS_clone3;
  register long x0 asm("x0") = reinterpret_cast<long>(arguments);
  register long x1 asm("x1") = sizeof(clone_args);
  register ChildMain x2 asm("x2") = main;
  register void* x3 asm("x3") = argument;
  asm volatile(
      "svc #0\n\t"
      "cbnz x0, 1f\n\t"
      "mov x29, xzr\n\t"
      "mov x0, x3\n\t"
      "blr x2\n\t"
      "brk #0\n"
      "1:"
      : "+r"(x0)
      : "r"(x8), "r"(x1), "r"(x2), "r"(x3)
      : "x30", "memory", "cc");
  return x0;
}

#else
#error "spawn needs a raw clone3 for this architecture"
#endif

BERTH_UNSANITIZED void child_main(void* argument) {
  auto* plan = static_cast<SpawnPlan*>(argument);
  raw_syscall(SYS_setpgid, 0, 0);
  if (plan->death_signal != 0) {
    raw_syscall(SYS_prctl, PR_SET_PDEATHSIG, plan->death_signal);
  }
  if (plan->prepare != nullptr) {
    plan->error = plan->prepare(plan->prepare_argument);
    if (plan->error != 0) {
      raw_syscall(SYS_exit_group, 127);
    }
  }
  const int wanted[] = {plan->stdin_fd, plan->stdout_fd, plan->stderr_fd};
  for (int target = 0; target < 3; ++target) {
    // Never one of 0..2 over another: the plan holds 0..2 in their own place or higher numbers.
    if (wanted[target] != target) {
      raw_syscall(SYS_dup3, wanted[target], target, 0);
    }
  }
  // What berth ignores, the job must not: an ignored SIGPIPE would survive exec. The kernel's own
  // sigaction is all zeros for "default".
  const std::uint64_t default_action[4] = {};
  raw_syscall(SYS_rt_sigaction, SIGPIPE, reinterpret_cast<long>(default_action), 0, 8);
  const std::uint64_t no_signals = 0;
  raw_syscall(SYS_rt_sigprocmask, SIG_SETMASK, reinterpret_cast<long>(&no_signals), 0, 8);
  const long failed = raw_syscall(SYS_execve, reinterpret_cast<long>(plan->path),
                                  reinterpret_cast<long>(plan->argument_list),
                                  reinterpret_cast<long>(plan->environment_list));
  plan->error = static_cast<int>(-failed);
  raw_syscall(SYS_exit_group, 127);
}

/// Known only by its exit code: one that was killed at birth has none.
constexpr int kAlive = 42;

BERTH_UNSANITIZED void say_alive(void*) { raw_syscall(SYS_exit_group, kAlive); }

/// Seccomp filters of some containers refuse clone3; clone can do all but the cgroup.
int clone_fallback(void* plan) {
  child_main(plan);
  return 0;
}

}  // namespace

SpawnStack::SpawnStack()
    : base_(::mmap(nullptr, kSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK,
                   -1, 0)) {
  BERTH_CHECK(base_ != MAP_FAILED);
}

SpawnStack::SpawnStack(SpawnStack&& other) noexcept : base_(std::exchange(other.base_, nullptr)) {}

SpawnStack::~SpawnStack() {
  if (base_ != nullptr) {
    ::munmap(base_, kSize);
  }
}

long spawn_masked(SpawnPlan& plan, const SpawnStack& stack, int cgroup) {
  plan.argument_list = plan.arguments.data();
  plan.environment_list = plan.environment.data();
  clone_args arguments{};
  arguments.flags = CLONE_VM;
  arguments.exit_signal = SIGCHLD;
  arguments.stack = reinterpret_cast<std::uintptr_t>(stack.base());
  arguments.stack_size = SpawnStack::kSize;
  if (cgroup >= 0) {
    arguments.flags |= CLONE_INTO_CGROUP;
    arguments.cgroup = static_cast<std::uint64_t>(cgroup);
  }
  long pid = raw_clone3(&arguments, child_main, &plan);
  if (pid == -ENOSYS || (pid == -EPERM && cgroup < 0)) {
    pid = ::clone(clone_fallback, static_cast<char*>(stack.base()) + SpawnStack::kSize,
                  CLONE_VM | SIGCHLD, &plan);
    pid = pid < 0 ? -errno : pid;
  }
  return pid;
}

Result<pid_t> spawn(SpawnPlan& plan, const SpawnStack& stack, int cgroup) {
  // No signal handler may run in the child while it lives on borrowed memory.
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  const long pid = spawn_masked(plan, stack, cgroup);
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (pid < 0) {
    return fail_errno("cannot start a process", static_cast<int>(-pid));
  }
  return static_cast<pid_t>(pid);
}

bool can_be_born_in(int cgroup) {
  const SpawnStack stack;
  int opened = -1;
  clone_args arguments{};
  arguments.flags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_PIDFD | CLONE_INTO_CGROUP;
  arguments.pidfd = reinterpret_cast<std::uintptr_t>(&opened);
  arguments.exit_signal = 0;  // nobody who waits for jobs hears of it
  arguments.stack = reinterpret_cast<std::uintptr_t>(stack.base());
  arguments.stack_size = SpawnStack::kSize;
  arguments.cgroup = static_cast<std::uint64_t>(cgroup);
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  const long pid = raw_clone3(&arguments, say_alive, nullptr);
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (pid < 0) {
    return false;
  }
  const Fd process(opened);
  // One that is frozen would never end by itself; death reaches it all the same.
  constexpr int kPatienceMilliseconds = 500;
  pollfd end{process.get(), POLLIN, 0};
  if (::poll(&end, 1, kPatienceMilliseconds) != 1) {
    ::syscall(SYS_pidfd_send_signal, process.get(), SIGKILL, nullptr, 0);
  }
  siginfo_t info{};
  while (::waitid(P_PIDFD, static_cast<id_t>(process.get()), &info, WEXITED | __WALL) != 0 &&
         errno == EINTR) {
  }
  return info.si_code == CLD_EXITED && info.si_status == kAlive;
}

}  // namespace berth
