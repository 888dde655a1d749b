#include "exec/launcher.h"

#include <fcntl.h>
#include <linux/close_range.h>
#include <linux/sched.h>
#include <poll.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>

#include "base/check.h"
#include "base/failpoint.h"
#include "exec/inheritance.h"
#include "exec/process_identity.h"
#include "exec/shim_process.h"
#include "exec/shim_wire.h"

namespace berth {
namespace {

/// Leaves the daemon's descriptors behind, the standard ones too: a pipe that the daemon writes to
/// must not stay open because a job runs for a week.
void take_descriptors(const LauncherSetup& setup) {
  constexpr int kOutOfTheWay = 64;
  const int wanted[] = {setup.requests, setup.messages, setup.folder, setup.daemon};
  int moved[4];
  for (int i = 0; i < 4; ++i) {
    moved[i] = ::fcntl(wanted[i], F_DUPFD, kOutOfTheWay);
    BERTH_CHECK(moved[i] >= 0);
  }
  for (int i = 0; i < 4; ++i) {
    BERTH_CHECK(::dup3(moved[i], kRequestsFd + i, O_CLOEXEC) >= 0);
  }
  ::close_range(kLauncherLockFd, ~0U, 0);
  const int null = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  for (int standard = 0; standard < 3; ++standard) {
    ::dup2(null, standard);
  }
  ::close(null);
}

/// Nothing interrupts it, and its children start with every signal waiting for them.
void take_signals() {
  sigset_t all;
  ::sigfillset(&all);
  ::sigprocmask(SIG_SETMASK, &all, nullptr);
  // The library does not let go of the two that it uses itself, and whoever started the daemon may
  // have ignored them, too. All zeros is "default" to the kernel.
  const long default_action[4] = {};
  constexpr long kSetSize = 8;
  for (int number = 1; number <= 64; ++number) {
    ::syscall(SYS_rt_sigaction, number, default_action, nullptr, kSetSize);
  }
  // Shims leave no zombies: how a shim ended says nothing, its record does.
  ::signal(SIGCHLD, SIG_IGN);
}

void lock_folder() {
  const int file = ::openat(kFolderFd, kLauncherLockFile, O_RDONLY | O_CREAT | O_CLOEXEC, 0600);
  BERTH_CHECK(file >= 0);
  if (file != kLauncherLockFd) {
    BERTH_CHECK(::dup3(file, kLauncherLockFd, O_CLOEXEC) >= 0);
    ::close(file);
  }
  while (::flock(kLauncherLockFd, LOCK_EX) != 0) {
    BERTH_CHECK(errno == EINTR);
  }
}

/// False when the daemon is gone. What it had asked for but did not live to see is left undone: its
/// successor finds no trace of it and asks again.
bool wait_for_daemon(int timeout) {
  pollfd poll{kRequestsFd, POLLIN | POLLRDHUP, 0};
  while (::poll(&poll, 1, timeout) < 0) {
    BERTH_CHECK(errno == EINTR);
  }
  return (poll.revents & (POLLHUP | POLLRDHUP | POLLERR)) == 0;
}

/// The whole of fork: no library call does it that also gives a descriptor of the child, and one
/// opened afterwards could be of a process that got the number next.
pid_t fork_with_descriptor(Fd& descriptor) {
  int opened = -1;
  const long pid = ::syscall(SYS_clone, CLONE_PIDFD | SIGCHLD, nullptr, &opened, nullptr, nullptr);
  if (pid > 0) {
    descriptor = Fd(opened);
  }
  return static_cast<pid_t>(pid);
}

/// The two ends of a shim's own wire. Without descriptors for it, a shim does without.
struct Wire {
  Fd daemons;
  Fd shims;

  static Wire make() {
    int ends[2] = {-1, -1};
    (void)::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends);
    return {Fd(ends[0]), Fd(ends[1])};
  }
};

void serve(char* bytes, const ShimTools& tools) {
  Shim shim(bytes, tools);
  Wire wire = Wire::make();
  (void)BERTH_FAILPOINT("launcher.before_fork");
  const std::uint64_t before = current_tick();
  Fd descriptor;
  pid_t pid = fork_with_descriptor(descriptor);
  while (pid < 0 && (errno == EAGAIN || errno == ENOMEM)) {
    // The machine is out of processes for now. That is no fault of the job, which waits.
    constexpr int kPauseMilliseconds = 100;
    ::poll(nullptr, 0, kPauseMilliseconds);
    if (!wait_for_daemon(0)) {
      ::_exit(0);
    }
    pid = fork_with_descriptor(descriptor);
  }
  if (pid == 0) {
    wire.daemons.reset();
    run_shim(shim, tools, wire.shims.get(), before);
  }
  ShimMessage message;
  message.serial = shim.serial();
  if (pid > 0) {
    message.kind = ShimMessage::Kind::Forked;
    message.pid = pid;
  } else {
    message.kind = ShimMessage::Kind::Failed;
    message.error = errno;
    message.step = StartStep::Fork;
  }
  (void)BERTH_FAILPOINT("launcher.before_reply");
  (void)send_message(kMessagesFd, message, descriptor.get(), wire.daemons.get());
  (void)BERTH_FAILPOINT("launcher.after_reply");
}

/// Bytes as they come. Memory that a shim still shares is copied when it is written here, so little
/// of it is.
class Inbox {
 public:
  /// The request at its front, null while that is not whole.
  char* request() {
    const std::optional<std::size_t> size = request_size({bytes_.get() + begin_, end_ - begin_});
    return size && *size <= end_ - begin_ ? bytes_.get() + begin_ : nullptr;
  }
  void drop_request() {
    begin_ += request_size({bytes_.get() + begin_, end_ - begin_}).value_or(0);
    if (begin_ == end_) {
      begin_ = end_ = 0;
    }
  }
  /// False when the other end is closed.
  bool receive(int socket) {
    make_room();
    const ssize_t got = ::recv(socket, bytes_.get() + end_, capacity_ - end_, 0);
    end_ += static_cast<std::size_t>(std::max<ssize_t>(got, 0));
    return got > 0 || (got < 0 && errno == EINTR);
  }

 private:
  void make_room() {
    const std::size_t used = end_ - begin_;
    const std::size_t wanted =
        std::max(kSmallest, request_size({bytes_.get() + begin_, used}).value_or(0));
    // A large one is not kept for small requests: every shim would inherit it.
    if (wanted > capacity_ || (used == 0 && capacity_ > kSmallest)) {
      auto larger = std::make_unique_for_overwrite<char[]>(wanted);
      std::memcpy(larger.get(), bytes_.get() + begin_, used);
      bytes_ = std::move(larger);
      capacity_ = wanted;
    } else if (begin_ != 0) {
      std::memmove(bytes_.get(), bytes_.get() + begin_, used);
    }
    begin_ = 0;
    end_ = used;
  }

  static constexpr std::size_t kSmallest = 64 * 1024;
  std::size_t capacity_ = kSmallest;
  std::unique_ptr<char[]> bytes_ = std::make_unique_for_overwrite<char[]>(kSmallest);
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
};

}  // namespace

void run_launcher(const LauncherSetup& setup) noexcept {
  take_signals();
  take_descriptors(setup);
  ::setsid();
  ::prctl(PR_SET_NAME, "berth-launcher");
  BERTH_CHECK(::chdir("/") == 0);
  shed_daemon_privileges();
  lock_folder();
  (void)send_message(kMessagesFd, {}, kLauncherLockFd);
  Inbox inbox;
  const SpawnStack stack;
  const LoginLimits limits;
  const ShimTools tools{stack, setup.boot_id, limits};
  for (;;) {
    char* request = inbox.request();
    if (!wait_for_daemon(request != nullptr ? 0 : -1)) {
      ::_exit(0);
    }
    if (request != nullptr) {
      serve(request, tools);
      inbox.drop_request();
    } else if (!inbox.receive(kRequestsFd)) {
      ::_exit(0);
    }
  }
}

}  // namespace berth
