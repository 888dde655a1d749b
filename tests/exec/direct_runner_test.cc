#include "exec/direct_runner.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <map>

#include "exec/job_processes.h"

namespace berth {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto kRunnerDeadline = std::chrono::seconds(20);

/// A file in memory that a job writes to and the test reads.
class Capture {
 public:
  Capture() : fd_(::memfd_create("capture", MFD_CLOEXEC)) {}
  int fd() const { return fd_.get(); }
  std::string text() const {
    std::string out(static_cast<std::size_t>(::lseek(fd_.get(), 0, SEEK_END)), '\0');
    const ssize_t got = ::pread(fd_.get(), out.data(), out.size(), 0);
    out.resize(static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    return out;
  }

 private:
  Fd fd_;
};

/// A pipe whose reading end tells that all its writers are gone: processes that hold it have ended.
struct Witness {
  Witness() {
    int ends[2];
    EXPECT_EQ(::pipe2(ends, O_CLOEXEC), 0);
    reader = Fd(ends[0]);
    writer = Fd(ends[1]);
  }
  /// A line that a job has written.
  std::string line() const {
    std::string text;
    char letter = 0;
    pollfd poll{reader.get(), POLLIN, 0};
    while (::poll(&poll, 1, 20000) == 1 && ::read(reader.get(), &letter, 1) == 1 &&
           letter != '\n') {
      text += letter;
    }
    return text;
  }
  /// Whether every process that had the writing end is gone before the deadline.
  bool closed() {
    writer.reset();
    for (;;) {
      pollfd poll{reader.get(), POLLIN, 0};
      if (::poll(&poll, 1, 20000) != 1) {
        return false;
      }
      char buffer[256];
      if (::read(reader.get(), buffer, sizeof buffer) == 0) {
        return true;
      }
    }
  }
  Fd reader;
  Fd writer;
};

class DirectRunnerTest : public testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    auto made = DirectRunner::make({.use_cgroups = GetParam()});
    ASSERT_TRUE(made.has_value()) << made.error().message;
    runner_ = std::move(*made);
    if (GetParam() && !runner_->uses_cgroups()) {
      GTEST_SKIP() << "cgroup v2 is not writable here";
    }
  }

  pid_t start(std::uint64_t id, std::string command, int out = 1,
              std::vector<std::pair<std::string, std::optional<std::string>>> environment = {}) {
    Launch launch;
    launch.job = JobId{id};
    launch.command = std::move(command);
    launch.environment = std::move(environment);
    launch.stdout_fd = out;
    const Result<pid_t> pid = runner_->start(std::move(launch));
    EXPECT_TRUE(pid.has_value()) << pid.error().message;
    return pid.value_or(0);
  }

  Exit wait_for(std::uint64_t id) {
    const auto deadline = Clock::now() + kRunnerDeadline;
    while (!exits_.contains(id) && Clock::now() < deadline) {
      pollfd poll{runner_->event_fd(), POLLIN, 0};
      (void)::poll(&poll, 1, 1000);
      for (const Exit& exit : runner_->take_exits()) {
        exits_[exit.job.value] = exit;
      }
    }
    EXPECT_TRUE(exits_.contains(id)) << "job " << id << " did not end";
    return exits_[id];
  }

  std::string output_of(std::string command,
                        std::vector<std::pair<std::string, std::optional<std::string>>> env = {}) {
    Capture capture;
    start(1, std::move(command), capture.fd(), std::move(env));
    (void)wait_for(1);
    exits_.clear();
    return capture.text();
  }

  std::unique_ptr<DirectRunner> runner_;
  std::map<std::uint64_t, Exit> exits_;
};

TEST_P(DirectRunnerTest, TellsExitCodeAndSignalApart) {
  start(1, "exit 0");
  start(2, "exit 42");
  start(3, "kill -SEGV $$");
  EXPECT_EQ(wait_for(1).code, 0);
  EXPECT_EQ(wait_for(2).code, 42);
  EXPECT_EQ(wait_for(2).signal, 0);
  EXPECT_EQ(wait_for(3).signal, SIGSEGV);
  EXPECT_EQ(wait_for(3).code, 0);
}

TEST_P(DirectRunnerTest, ReportsACommandThatCannotBeRun) {
  start(1, std::string(200 * 1024, 'x'));  // beyond what one argument may hold
  EXPECT_EQ(wait_for(1).start_error, E2BIG);
  EXPECT_EQ(wait_for(1).code, 127);
}

TEST_P(DirectRunnerTest, SetsReplacesAndRemovesVariables) {
  ::setenv("BERTH_TEST_KEPT", "kept", 1);
  ::setenv("BERTH_TEST_REPLACED", "old", 1);
  ::setenv("BERTH_TEST_REMOVED", "x", 1);
  EXPECT_EQ(output_of("echo $BERTH_TEST_KEPT $BERTH_TEST_REPLACED ${BERTH_TEST_REMOVED-unset} "
                      "$BERTH_JOB_ID; env | grep -c ^BERTH_TEST_REPLACED=",
                      {{"BERTH_TEST_REPLACED", "new"}, {"BERTH_TEST_REMOVED", std::nullopt}}),
            "kept new unset 1\n1\n");
}

TEST_P(DirectRunnerTest, GivesAJobACleanProcess) {
  const Fd leak(::open("/dev/null", O_RDONLY));  // not close-on-exec
  auto again = DirectRunner::make({.use_cgroups = false});
  ASSERT_TRUE(again.has_value());
  EXPECT_EQ(output_of("ls /proc/self/fd | tr '\\n' ' '"), "0 1 2 3 ");  // 3 is ls's own
  EXPECT_EQ(output_of("readlink /proc/self/fd/0"), "/dev/null\n");
  EXPECT_EQ(output_of("test $$ = $(ps -o pgid= -p $$) && echo own group"), "own group\n");
  // What berth itself ignores it may, but its jobs must not; what berth was told to ignore (nohup)
  // stays.
  const auto signals = [](const std::string& name) {
    std::ifstream status("/proc/self/status");
    std::string word;
    while (status >> word && word != name + ":") {
    }
    std::uint64_t mask = 0;
    status >> std::hex >> mask;
    return mask;
  };
  const std::uint64_t told = signals("SigIgn");
  const auto before = ::signal(SIGPIPE, SIG_IGN);
  EXPECT_EQ(output_of("grep -E 'SigBlk|SigIgn' /proc/self/status | tr -d '\\n\\t'"),
            fmt::format("SigBlk:{:016x}SigIgn:{:016x}", 0, told));
  ::signal(SIGPIPE, before);
}

TEST_P(DirectRunnerTest, KillReachesAGrandchildInItsOwnSession) {
  Witness witness;
  start(1, "setsid sh -c 'echo up; sleep 1000' & wait", witness.writer.get());
  EXPECT_EQ(witness.line(), "up");
  runner_->stop(JobId{1}, StopSignal::Kill);
  EXPECT_EQ(wait_for(1).signal, SIGKILL);
  EXPECT_TRUE(witness.closed());
}

TEST_P(DirectRunnerTest, KillReachesADoubleForkWhoseParentsAreGone) {
  Witness witness;
  start(1, "(setsid sh -c '(setsid sh -c \"echo up; sleep 1000\" &) ; exit 0' &) ; sleep 1000",
        witness.writer.get());
  EXPECT_EQ(witness.line(), "up");
  runner_->stop(JobId{1}, StopSignal::Kill);
  EXPECT_EQ(wait_for(1).signal, SIGKILL);
  EXPECT_TRUE(witness.closed());
}

TEST_P(DirectRunnerTest, TerminateReachesTheWholeTreeAndCanBeCaught) {
  Witness witness;
  start(1, "trap 'echo asked; exit 7' TERM; setsid sh -c 'echo up; sleep 1000' & sleep 1000 & wait",
        witness.writer.get());
  EXPECT_EQ(witness.line(), "up");
  runner_->stop(JobId{1}, StopSignal::Terminate);
  EXPECT_EQ(witness.line(), "asked");
  EXPECT_EQ(wait_for(1).code, 7);
  EXPECT_TRUE(witness.closed());
}

TEST_P(DirectRunnerTest, WhatAJobLeavesBehindIsEnded) {
  Witness witness;
  start(1, "sleep 1000 & setsid sh -c 'echo up; sleep 1000 & sleep 1000' & read x; exit 3",
        witness.writer.get());
  EXPECT_EQ(witness.line(), "up");
  // The job's own end depends on nothing: its standard input is empty, so `read` fails at once.
  EXPECT_EQ(wait_for(1).code, 3);
  witness.writer.reset();
  const auto deadline = Clock::now() + kRunnerDeadline;
  // Adopted processes die one generation at a time; each death is an event.
  bool gone = false;
  while (!gone && Clock::now() < deadline) {
    pollfd polls[] = {{runner_->event_fd(), POLLIN, 0}, {witness.reader.get(), POLLIN, 0}};
    (void)::poll(polls, 2, 1000);
    (void)runner_->take_exits();
    char buffer[64];
    gone = (polls[1].revents & (POLLIN | POLLHUP)) != 0 &&
           ::read(witness.reader.get(), buffer, sizeof buffer) == 0;
  }
  EXPECT_TRUE(gone);
}

TEST_P(DirectRunnerTest, StartsAgainAfterAKill) {
  // A killed cgroup must not be used again: the kernel would kill the next job in it.
  for (std::uint64_t id = 1; id <= 5; ++id) {
    start(2 * id, "sleep 1000");
    runner_->stop(JobId{2 * id}, StopSignal::Kill);
    EXPECT_EQ(wait_for(2 * id).signal, SIGKILL);
    start(2 * id + 1, "exit 5");
    EXPECT_EQ(wait_for(2 * id + 1).code, 5);
  }
}

TEST_P(DirectRunnerTest, ManyJobsAllReportTheirOwnEnd) {
  std::uint64_t next = 0;
  for (; next < 8; ++next) {
    start(next + 1, "exit " + std::to_string((next + 1) % 200));
  }
  const std::uint64_t count = 400;
  for (std::uint64_t id = 1; id <= count; ++id) {
    EXPECT_EQ(wait_for(id).code, static_cast<int>(id % 200));
    if (next < count) {
      ++next;
      start(next, "exit " + std::to_string(next % 200));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Ways, DirectRunnerTest, testing::Bool(),
                         [](const auto& way) { return way.param ? "Cgroup" : "Parentage"; });

TEST(Cgroups, AreFoundThroughMountinfo) {
  char folder[] = "/tmp/berth-cgroup-test-XXXXXX";
  ASSERT_NE(::mkdtemp(folder), nullptr);
  const std::string proc = folder;
  const auto write = [&](const std::string& name, const std::string& text) {
    const Fd file(::open((proc + "/self/" + name).c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600));
    EXPECT_EQ(::write(file.get(), text.data(), text.size()), static_cast<ssize_t>(text.size()));
  };
  ASSERT_EQ(::mkdir((proc + "/self").c_str(), 0700), 0);
  write("mountinfo",
        "30 23 0:26 / /sys/fs/cgroup ro - tmpfs tmpfs rw\n"
        "31 30 0:27 / /sys/fs/cgroup/unified\\040two rw shared:9 - cgroup2 cgroup2 rw\n");
  write("cgroup", "4:memory:/x\n0::/user.slice/a.scope\n");
  EXPECT_EQ(own_cgroup_directory(proc), "/sys/fs/cgroup/unified two/user.slice/a.scope");
  write("cgroup", "0::/\n");
  EXPECT_EQ(own_cgroup_directory(proc), "/sys/fs/cgroup/unified two");
  write("mountinfo", "31 30 0:27 /box /cg rw - cgroup2 cgroup2 rw\n");
  write("cgroup", "0::/box/inner\n");
  EXPECT_EQ(own_cgroup_directory(proc), "/cg/inner");
  EXPECT_EQ(cgroup_name("/cg/inner/job", proc), "/box/inner/job");
  EXPECT_EQ(cgroup_name("/cgs/inner/job", proc), "");
  write("mountinfo", "30 23 0:26 / /sys/fs/cgroup ro - tmpfs tmpfs rw\n");
  EXPECT_EQ(own_cgroup_directory(proc), "");
  EXPECT_EQ(CgroupFolder::make(proc), nullptr);
  ASSERT_EQ(std::system(("rm -r " + proc).c_str()), 0);
}

TEST(Cgroups, OfABerthThatLivesAreLeftAlone) {
  const std::string folder =
      own_cgroup_directory("/proc") + "/berth-999999999-0";  // nobody's number
  if (::mkdir(folder.c_str(), 0755) != 0 || ::mkdir((folder + "/0").c_str(), 0755) != 0) {
    GTEST_SKIP() << "cgroup v2 is not writable here";
  }
  Fd lock(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  ASSERT_EQ(::flock(lock.get(), LOCK_EX), 0);
  EXPECT_NE(CgroupFolder::make(), nullptr);
  EXPECT_EQ(::access((folder + "/0").c_str(), F_OK), 0);
  lock.reset();
  EXPECT_NE(CgroupFolder::make(), nullptr);
  EXPECT_NE(::access(folder.c_str(), F_OK), 0) << "what a dead one left is tidied up";
}

}  // namespace
}  // namespace berth
