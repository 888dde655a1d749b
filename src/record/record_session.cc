#include "record/record_session.h"

#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <mutex>
#include <utility>

#include "base/check.h"
#include "base/fd.h"
#include "base/signals.h"
#include "gpu/telemetry/sampler.h"
#include "record/process_watch.h"
#include "record/record_observer.h"
#include "run/poller.h"

namespace berth {
namespace {

struct Reading {
  std::vector<DeviceSample> samples;
  std::uint64_t asked = 0;
  Time at;
  std::chrono::system_clock::time_point wall;
};

/// Readings on their way from the sampler's thread.
class Mailbox {
 public:
  Mailbox() : event_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) { BERTH_CHECK(event_); }

  int event_fd() const { return event_.get(); }

  void put(std::vector<DeviceSample> samples, std::uint64_t asked) {
    {
      const std::lock_guard guard(mutex_);
      readings_.push_back(
          {std::move(samples), asked, record_time(), std::chrono::system_clock::now()});
    }
    const std::uint64_t one = 1;
    (void)!::write(event_.get(), &one, sizeof one);
  }

  std::vector<Reading> take() {
    std::uint64_t count = 0;
    (void)!::read(event_.get(), &count, sizeof count);
    const std::lock_guard guard(mutex_);
    return std::exchange(readings_, {});
  }

 private:
  Fd event_;
  std::mutex mutex_;
  std::vector<Reading> readings_;
};

/// Signals come by a descriptor while this lives.
class SignalDoor {
 public:
  SignalDoor() {
    sigset_t wanted;
    sigemptyset(&wanted);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
      if (!is_ignored(signal)) {
        sigaddset(&wanted, signal);
      }
    }
    sigaddset(&wanted, SIGCHLD);
    ::pthread_sigmask(SIG_BLOCK, &wanted, &before_);
    fd_ = Fd(::signalfd(-1, &wanted, SFD_CLOEXEC | SFD_NONBLOCK));
    BERTH_CHECK(fd_);
  }
  ~SignalDoor() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalDoor(const SignalDoor&) = delete;
  SignalDoor& operator=(const SignalDoor&) = delete;

  int fd() const { return fd_.get(); }
  const sigset_t& before() const { return before_; }

 private:
  sigset_t before_{};
  Fd fd_;
};

Result<pid_t> spawn(const std::vector<std::string>& command, const sigset_t& mask) {
  std::vector<char*> words;
  for (const std::string& word : command) {
    words.push_back(const_cast<char*>(word.c_str()));
  }
  words.push_back(nullptr);
  posix_spawnattr_t attributes;
  ::posix_spawnattr_init(&attributes);
  ::posix_spawnattr_setsigmask(&attributes, &mask);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  pid_t pid = 0;
  const int problem = ::posix_spawnp(&pid, words[0], nullptr, &attributes, words.data(), environ);
  ::posix_spawnattr_destroy(&attributes);
  if (problem != 0) {
    return fail_errno(fmt::format("cannot run '{}'", command.front()), problem);
  }
  return pid;
}

/// Nothing while the process runs.
std::optional<int> exit_code_of(pid_t pid) {
  constexpr int kSignalled = 128;
  int status = 0;
  if (::waitpid(pid, &status, WNOHANG) != pid) {
    return std::nullopt;
  }
  return WIFSIGNALED(status) ? kSignalled + WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace

Result<int> RecordSession::run() {
  const SignalDoor door;
  Mailbox mailbox;
  Sampler sampler(devices, interval, [&](std::vector<DeviceSample> samples, std::uint64_t asked) {
    mailbox.put(std::move(samples), asked);
  });
  ProcessWatch processes(recorder.recording());
  std::uint64_t taken = 0;  // the number of the newest reading
  std::uint64_t readings = 0;
  Poller poller;
  poller.add(mailbox.event_fd(), [&] {
    for (const Reading& reading : mailbox.take()) {
      recorder.sampled(reading.samples, reading.at, reading.wall);
      processes.sampled(reading.samples, reading.at);
      taken = reading.asked;
      ++readings;
    }
  });
  while (readings == 0) {  // what was before the command belongs to the picture
    poller.wait(kForever);
  }
  pid_t child = 0;
  if (!command.empty()) {
    const Result<pid_t> started = spawn(command, door.before());
    if (!started) {
      return Failure(started.error());
    }
    child = *started;
  }
  std::optional<int> code;
  poller.add(door.fd(), [&] {
    signalfd_siginfo info{};
    while (::read(door.fd(), &info, sizeof info) == sizeof info) {
      const int signal = static_cast<int>(info.ssi_signo);
      if (signal == SIGCHLD) {
        code = child == 0 ? code : exit_code_of(child);
      } else if (child == 0) {
        code = 0;
      } else if (info.ssi_code != SI_KERNEL) {
        ::kill(child, signal);  // what the terminal sends, the command gets by itself
      }
    }
  });
  while (!code) {
    poller.wait(kForever);
  }
  const std::uint64_t last = sampler.sample_now();
  while (taken < last) {
    poller.wait(kForever);
  }
  return *code;
}

}  // namespace berth
