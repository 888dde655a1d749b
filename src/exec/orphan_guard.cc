#include "exec/orphan_guard.h"

#include <fcntl.h>
#include <linux/close_range.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "exec/job_processes.h"

namespace berth {
namespace {

constexpr int kRoundMilliseconds = 50;
constexpr int kRoundsOfGrace = 10'000 / kRoundMilliseconds;

/// Asks everyone with the mark to end, and ends those who do not. What they start meanwhile has the
/// mark as well.
void end_all(const std::string& mark) {
  for (int round = 0;; ++round) {
    const std::vector<JobProcess> left = marked(mark);
    if (left.empty()) {
      return;
    }
    if (round == 0 || round >= kRoundsOfGrace) {
      for (const JobProcess& process : left) {
        signal_process(process, round == 0 ? SIGTERM : SIGKILL);
      }
    }
    ::poll(nullptr, 0, kRoundMilliseconds);
  }
}

[[noreturn]] void watch(int alive, const std::string& mark) {
  // Neither a key in the terminal nor a group that is killed concerns it, and it keeps nothing
  // open that somebody may wait to see closed.
  ::setsid();
  sigset_t all;
  ::sigfillset(&all);
  ::sigprocmask(SIG_SETMASK, &all, nullptr);
  constexpr int kAlive = 3;
  ::dup2(alive, kAlive);
  ::close_range(kAlive + 1, ~0U, 0);
  const int null = ::open("/dev/null", O_RDWR);
  for (int fd = 0; fd < kAlive; ++fd) {
    ::dup2(null, fd);
  }
  ::close(null);
  char done = 0;
  ssize_t got = 0;
  do {
    got = ::read(kAlive, &done, 1);
  } while (got < 0 && errno == EINTR);
  if (got == 0) {
    end_all(mark);
  }
  ::_exit(0);
}

}  // namespace

Result<OrphanGuard> OrphanGuard::start(const std::string& mark) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) {
    return fail_errno("cannot watch over the jobs", errno);
  }
  Fd watched(ends[0]);
  Fd alive(ends[1]);
  const pid_t pid = ::fork();
  if (pid < 0) {
    return fail_errno("cannot watch over the jobs", errno);
  }
  if (pid == 0) {
    alive = Fd();
    watch(watched.get(), mark);
  }
  return OrphanGuard(pid, std::move(alive));
}

OrphanGuard::OrphanGuard(OrphanGuard&& other) noexcept
    : pid_(std::exchange(other.pid_, 0)), alive_(std::move(other.alive_)) {}

OrphanGuard::~OrphanGuard() {
  if (pid_ > 0) {
    (void)!::write(alive_.get(), "", 1);
    ::waitpid(pid_, nullptr, 0);
  }
}

}  // namespace berth
