// A folder of attempts, a runner on it, and ways to wait for events. No process may be left
// running: the end of each test checks that no process holds the folder any more.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>
#include <string>
#include <vector>

#include "base/failpoint.h"
#include "base/process_facts.h"
#include "base/small_files.h"
#include "exec/job_processes.h"
#include "exec/process_identity.h"
#include "exec/shim_runner.h"

namespace berth {

using Clock = std::chrono::steady_clock;
constexpr auto kDeadline = std::chrono::seconds(30);

inline bool before(Clock::time_point deadline) { return Clock::now() < deadline; }

class ShimFixture {
 public:
  ShimFixture() {
    char name[] = "/tmp/berth-shim-test-XXXXXX";
    EXPECT_NE(::mkdtemp(name), nullptr);
    base_ = name;
    folder_ = base_ + "/attempts";
  }
  ~ShimFixture() {
    set_failpoints("");
    runner_.reset();
    EXPECT_TRUE(deserted()) << "a process still uses " << folder_;
    std::error_code ignored;
    std::filesystem::remove_all(base_, ignored);
  }

  /// Whether all shims and launchers of the folder exit in time.
  bool deserted() const {
    const auto deadline = Clock::now() + kDeadline;
    for (;;) {
      std::vector<pid_t> left = holders(folder_);
      std::erase(left, ::getpid());
      if (left.empty() || !before(deadline)) {
        return left.empty();
      }
      if (const Fd process = open_pid(left.front())) {
        pollfd poll{process.get(), POLLIN, 0};
        (void)::poll(&poll, 1, 1000);
      }
    }
  }

  void make(ShimRunner::Options options = {}) {
    runner_.reset();
    auto made = ShimRunner::make(folder_, options);
    ASSERT_TRUE(made.has_value()) << made.error().message;
    runner_ = std::move(*made);
  }

  ShimLaunch launch(std::uint64_t job, std::string command) const {
    ShimLaunch launch;
    launch.job = JobId{job};
    launch.attempt = 1;
    launch.command = std::move(command);
    launch.directory = base_;
    launch.environment = {"PATH=/usr/bin:/bin"};
    launch.stdout_path = "out";
    launch.user = ::geteuid();
    return launch;
  }
  void start(std::uint64_t job, std::string command) {
    const Result<void> started = runner_->start(launch(job, std::move(command)));
    EXPECT_TRUE(started.has_value()) << (started ? "" : started.error().message);
  }

  /// Waits at most once for events, then takes all of them.
  void pump(int timeout = 1000) {
    pollfd poll{runner_->event_fd(), POLLIN, 0};
    (void)::poll(&poll, 1, timeout);
    for (const AttemptStart& start : runner_->take_starts()) {
      starts_.push_back(start);
    }
    for (const AttemptEnd& end : runner_->take_ends()) {
      ends_.push_back(end);
    }
  }
  bool has_ended(std::uint64_t job) const {
    return std::any_of(ends_.begin(), ends_.end(),
                       [&](const AttemptEnd& end) { return end.job.value == job; });
  }
  /// Waits for the one end of a job.
  AttemptEnd end_of(std::uint64_t job) {
    const auto deadline = Clock::now() + kDeadline;
    while (!has_ended(job) && before(deadline)) {
      pump();
    }
    EXPECT_TRUE(has_ended(job)) << "job " << job << " did not end";
    std::vector<AttemptEnd> found;
    for (const AttemptEnd& end : ends_) {
      if (end.job.value == job) {
        found.push_back(end);
      }
    }
    EXPECT_LE(found.size(), 1U) << "job " << job << " ended more than once";
    return found.empty() ? AttemptEnd() : found.front();
  }
  pid_t pid_of(std::uint64_t job) {
    const auto deadline = Clock::now() + kDeadline;
    for (;;) {
      for (const AttemptStart& start : starts_) {
        if (start.job.value == job) {
          return start.pid;
        }
      }
      if (!before(deadline)) {
        ADD_FAILURE() << "job " << job << " did not start";
        return 0;
      }
      pump();
    }
  }

  std::string path(const std::string& name) const { return base_ + "/" + name; }
  std::string text(const std::string& name) const {
    std::ifstream file(path(name));
    return {std::istreambuf_iterator<char>(file), {}};
  }
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(path(name)) << text;
  }
  bool exists(const std::string& name) const { return ::access(path(name).c_str(), F_OK) == 0; }

  /// A named pipe. A job blocks in `read line < NAME` until release().
  void make_gate(const std::string& name = "gate") const {
    EXPECT_EQ(::mkfifo(path(name).c_str(), 0666), 0);
  }
  /// Waits until the job has the gate open, then lets it go on.
  void release(const std::string& name = "gate") const {
    Fd gate;
    EXPECT_TRUE(eventually([&] {
      gate = Fd(::open(path(name).c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC));
      return static_cast<bool>(gate);
    }));
    EXPECT_EQ(::write(gate.get(), "go\n", 3), 3);
  }
  /// What a job writes into a gate.
  std::string hear(const std::string& name) const {
    const Fd gate(::open(path(name).c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
    std::string heard;
    char letters[256];
    pollfd poll{gate.get(), POLLIN, 0};
    while (::poll(&poll, 1, 30000) == 1) {
      const ssize_t got = ::read(gate.get(), letters, sizeof letters);
      if (got <= 0) {
        break;
      }
      heard.append(letters, static_cast<std::size_t>(got));
    }
    return heard;
  }

  /// Waits until a condition that no descriptor announces is true.
  static bool eventually(const std::function<bool()>& condition) {
    const auto deadline = Clock::now() + kDeadline;
    while (!condition()) {
      if (!before(deadline)) {
        return false;
      }
      (void)::poll(nullptr, 0, 1);
    }
    return true;
  }
  static char state_of(pid_t pid) {
    const std::optional<ProcStat> stat = read_proc_stat(pid);
    return stat ? stat->state : '-';
  }
  /// The process with this name that has the folder open.
  pid_t find(const std::string& name) const {
    for (const pid_t pid : holders(folder_)) {
      if (read_small_file("/proc/" + std::to_string(pid) + "/comm").value_or("") == name + "\n") {
        return pid;
      }
    }
    return 0;
  }
  /// Kills the process and waits until it is gone.
  static void kill_now(pid_t pid) {
    ASSERT_GT(pid, 0);
    const Fd process = open_pid(pid);
    ASSERT_TRUE(signal_process(process.get(), SIGKILL));
    pollfd poll{process.get(), POLLIN, 0};
    EXPECT_EQ(::poll(&poll, 1, 30000), 1);
  }

  std::string base_;
  std::string folder_;
  std::unique_ptr<ShimRunner> runner_;
  std::vector<AttemptStart> starts_;
  std::vector<AttemptEnd> ends_;
};

}  // namespace berth
