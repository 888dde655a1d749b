// A shim that goes on: one process runs job after job. What the promises of ShimRunner say of one
// attempt must hold for each, whoever is killed between two of them.
#include <sys/syscall.h>

#include "exec/shim_fixture.h"

namespace berth {
namespace {

using Kind = AttemptEnd::Kind;

class ShimGoesOnTest : public testing::Test, public ShimFixture {
 protected:
  /// Runs a job that tells its shim, and waits for its end.
  pid_t shim_of(std::uint64_t job) {
    start(job, "echo $PPID > shim" + std::to_string(job));
    EXPECT_EQ(end_of(job).kind, Kind::Exited);
    return std::stoi(text("shim" + std::to_string(job)));
  }
};

TEST_F(ShimGoesOnTest, OneShimRunsJobAfterJob) {
  make();
  const pid_t shim = shim_of(1);
  for (std::uint64_t job = 2; job <= 20; ++job) {
    EXPECT_EQ(shim_of(job), shim);
    EXPECT_GT(pid_of(job), 0);
  }
  start(21, "exit 7");
  EXPECT_EQ(end_of(21).code, 7);
  start(22, "kill -9 $$");
  EXPECT_EQ(end_of(22).signal, SIGKILL);
  EXPECT_EQ(shim_of(23), shim);
}

TEST_F(ShimGoesOnTest, ItKeepsNothingOfAnAttemptThatIsOver) {
  make();
  const pid_t shim = shim_of(1);
  const auto descriptors = [&] {
    return std::distance(
        std::filesystem::directory_iterator("/proc/" + std::to_string(shim) + "/fd"), {});
  };
  const auto before = descriptors();
  for (std::uint64_t job = 2; job <= 10; ++job) {
    ShimLaunch next = launch(job, "exit 0");
    write("lock", "");
    next.locks = {path("lock")};
    EXPECT_TRUE(runner_->start(next).has_value());
    EXPECT_EQ(end_of(job).kind, Kind::Exited);
    runner_->forget(JobId{job}, 1);
    EXPECT_EQ(descriptors(), before) << job;
  }
  EXPECT_EQ(shim_of(11), shim);
}

TEST_F(ShimGoesOnTest, ItWaitsForAMomentOnly) {
  make();
  const pid_t shim = shim_of(1);
  const Fd process = open_pid(shim);
  while (state_of(shim) != '-' && process) {
    pump(10);
  }
  EXPECT_NE(shim_of(2), shim);
}

TEST_F(ShimGoesOnTest, AJobOfAnotherUserHasAnother) {
  if (::geteuid() != 0) {
    GTEST_SKIP() << "needs root to run the jobs of others";
  }
  make();
  std::filesystem::permissions(base_, std::filesystem::perms::all);
  const pid_t shim = shim_of(1);
  ShimLaunch other = launch(2, "echo $PPID > shim2; id -u > user");
  other.user = 65534;
  other.stdout_path = "theirs";
  EXPECT_TRUE(runner_->start(other).has_value());
  EXPECT_EQ(end_of(2).code, 0);
  EXPECT_EQ(text("user"), "65534\n");
  EXPECT_NE(std::stoi(text("shim2")), shim);
  EXPECT_EQ(shim_of(3), shim);
}

TEST_F(ShimGoesOnTest, ARequestTooLongForTheWireTakesTheOtherWay) {
  make();
  (void)shim_of(1);
  ShimLaunch large = launch(2, "printf %s \"$LARGE\" | wc -c > size");
  large.environment.push_back("LARGE=" + std::string(100'000, 'x'));
  EXPECT_TRUE(runner_->start(large).has_value());
  EXPECT_EQ(end_of(2).code, 0);
  EXPECT_EQ(text("size"), "100000\n");
}

TEST_F(ShimGoesOnTest, WhatWasMeantForTheJobBeforeIsNotForTheNext) {
  make();
  make_gate();
  const pid_t shim = shim_of(1);
  const Fd process = open_pid(shim);
  // As if each had been on its way when the job ended.
  ASSERT_EQ(::kill(shim, SIGTERM), 0);
  siginfo_t info{};
  info.si_signo = SIGRTMIN;
  info.si_code = SI_QUEUE;
  info.si_value.sival_int = 17 << 8 | SIGKILL;  // the mark of the first attempt
  ASSERT_EQ(::syscall(SYS_pidfd_send_signal, process.get(), SIGRTMIN, &info, 0), 0);
  start(2, "echo $PPID > shim2; read x < gate; exit 8");
  EXPECT_GT(pid_of(2), 0);
  release();
  EXPECT_EQ(end_of(2).code, 8);
  EXPECT_EQ(std::stoi(text("shim2")), shim);
}

TEST_F(ShimGoesOnTest, TheSecondJobCanBeKilledToo) {
  make();
  (void)shim_of(1);
  start(2, "exec sleep 1000");
  runner_->stop(JobId{2}, StopSignal::Kill);  // before or after it has started
  EXPECT_EQ(end_of(2).signal, SIGKILL);
  start(3, "exec sleep 1000");
  EXPECT_GT(pid_of(3), 0);
  runner_->stop(JobId{3}, StopSignal::Terminate);
  EXPECT_EQ(end_of(3).signal, SIGTERM);
}

TEST_F(ShimGoesOnTest, AnIdleShimThatIsKilledIsReplaced) {
  make();
  const pid_t shim = shim_of(1);
  kill_now(shim);
  EXPECT_NE(shim_of(2), shim);
}

TEST_F(ShimGoesOnTest, ARunningJobOutlivesItsShimThere) {
  make();
  make_gate();
  const pid_t shim = shim_of(1);
  start(2, "read x < gate; echo done >> ran");
  EXPECT_GT(pid_of(2), 0);
  kill_now(shim);
  pump(50);
  EXPECT_FALSE(has_ended(2));
  release();
  EXPECT_EQ(end_of(2).kind, Kind::Lost);
  EXPECT_EQ(text("ran"), "done\n");
}

TEST_F(ShimGoesOnTest, ALauncherThatDiesIsNotMissed) {
  make();
  (void)shim_of(1);
  kill_now(find("berth-launcher"));
  for (std::uint64_t job = 2; job <= 10; ++job) {
    EXPECT_GT(shim_of(job), 0);
  }
}

TEST_F(ShimGoesOnTest, AFolderThatIsDeletedGoesWithItsShims) {
  make();
  const pid_t shim = shim_of(1);
  std::filesystem::remove_all(folder_);
  EXPECT_NE(shim_of(2), shim);
}

TEST_F(ShimGoesOnTest, WhatAJobLeavesIsEndedBeforeTheNext) {
  make();
  make_gate();
  make_gate("up");
  const pid_t shim = shim_of(1);
  start(2, "setsid sh -c 'echo $$ > up; exec sleep 1000' & read x < gate; exit 3");
  const pid_t left = std::stoi(hear("up"));
  release();
  EXPECT_EQ(end_of(2).code, 3);
  EXPECT_EQ(::kill(left, 0), -1);
  EXPECT_EQ(shim_of(3), shim);
}

struct NextStep {
  const char* name;
  const char* failpoints;
};

class NextStepTest : public testing::TestWithParam<NextStep>, public ShimFixture {};

TEST_P(NextStepTest, EachRunsOnceAndEndsTruly) {
  set_failpoints(GetParam().failpoints);
  make();
  for (std::uint64_t job = 1; job <= 4; ++job) {
    start(job, "echo " + std::to_string(job) + " >> ran; exit " + std::to_string(job));
    EXPECT_EQ(end_of(job).kind, Kind::Exited);
    EXPECT_EQ(end_of(job).code, static_cast<int>(job));
    runner_->forget(JobId{job}, 1);
  }
  pump(0);
  EXPECT_EQ(ends_.size(), 4U);
  EXPECT_EQ(text("ran"), "1\n2\n3\n4\n");
}

INSTANTIATE_TEST_SUITE_P(Steps, NextStepTest,
                         testing::Values(NextStep{"BetweenRecordAndReport", "shim.after_end=kill"},
                                         NextStep{"AfterTheReport", "shim.after_report=kill"},
                                         NextStep{"WhenItHasTakenTheNext", "shim.taken=kill"}),
                         [](const auto& info) { return std::string(info.param.name); });

TEST_F(ShimGoesOnTest, AShimThatDiesWithTheNextOnRecordHasLostIt) {
  make();
  const pid_t shim = shim_of(1);
  // Its start is on record, or at least its file: whether the job began nobody can know.
  ASSERT_EQ(::kill(shim, SIGSTOP), 0);
  ASSERT_TRUE(eventually([&] { return state_of(shim) == 'T'; }));
  start(2, "echo ran >> ran");
  write("attempts/2.1", "");
  kill_now(shim);
  EXPECT_EQ(end_of(2).kind, Kind::Lost);
  EXPECT_FALSE(exists("ran"));
}

/// A daemon in a process of its own that runs two jobs, one after the other.
class DaemonOfTwo : public testing::Test, public ShimFixture {
 protected:
  pid_t daemon(const std::string& failpoints, const std::string& second) {
    const pid_t pid = ::fork();
    if (pid == 0) {
      set_failpoints(failpoints);
      auto made = ShimRunner::make(folder_);
      runner_ = made ? std::move(*made) : nullptr;
      if (runner_ == nullptr || !runner_->start(launch(1, "echo $PPID > shim"))) {
        ::_exit(1);
      }
      while (!has_ended(1)) {
        pump();
      }
      if (!second.empty()) {
        (void)runner_->start(launch(2, second)).has_value();
      }
      write("handed over", "yes");
      for (;;) {
        pump();
      }
    }
    return pid;
  }
  void kill_daemon(pid_t pid) {
    ::kill(pid, SIGKILL);
    EXPECT_EQ(::waitpid(pid, nullptr, 0), pid);
  }
};

TEST_F(DaemonOfTwo, AnIdleShimExitsWithItsDaemon) {
  const pid_t first = daemon("", "");
  ASSERT_TRUE(eventually([&] { return text("handed over") == "yes"; }));
  kill_daemon(first);
  EXPECT_TRUE(deserted());
  make();
  EXPECT_TRUE(runner_->adopt().empty());
  EXPECT_EQ(end_of(1).code, 0);
}

TEST_F(DaemonOfTwo, ANewDaemonWaitsForARequestThatIsOnItsWay) {
  // The shim has the request, and nothing tells of it yet: who looked into the folder now would run
  // it again.
  const pid_t first = daemon("shim.taken=stop", "echo ran >> ran; exit 7");
  ASSERT_TRUE(eventually(
      [&] { return text("handed over") == "yes" && state_of(std::stoi(text("shim"))) == 'T'; }));
  kill_daemon(first);
  const auto early = ShimRunner::make(folder_, {.patience = std::chrono::milliseconds(100)});
  EXPECT_FALSE(early.has_value());
  ::kill(std::stoi(text("shim")), SIGCONT);
  make();
  const std::vector<AttemptStart> adopted = runner_->adopt();
  EXPECT_EQ(end_of(2).code, 7);
  EXPECT_EQ(text("ran"), "ran\n");
}

TEST_F(DaemonOfTwo, ARequestThatDiedWithItsShimIsAskedForAgain) {
  const pid_t first = daemon("shim.taken=stop", "echo ran >> ran; exit 7");
  ASSERT_TRUE(eventually(
      [&] { return text("handed over") == "yes" && state_of(std::stoi(text("shim"))) == 'T'; }));
  kill_daemon(first);
  kill_now(std::stoi(text("shim")));
  make();
  EXPECT_TRUE(runner_->adopt().empty());
  pump(0);
  EXPECT_FALSE(has_ended(2)) << "it never began";
  start(2, "echo ran >> ran; exit 7");
  EXPECT_EQ(end_of(2).code, 7);
  EXPECT_EQ(text("ran"), "ran\n");
}

TEST_F(DaemonOfTwo, TheSecondJobIsAdopted) {
  make_gate();
  const pid_t first = daemon("", "echo up > up; read x < gate; exit 7");
  ASSERT_TRUE(eventually([&] { return text("up") == "up\n"; }));
  kill_daemon(first);
  make();
  EXPECT_EQ(runner_->adopt().size(), 1U);
  runner_->pause(JobId{2}, true);
  runner_->pause(JobId{2}, false);
  release();
  EXPECT_EQ(end_of(2).code, 7);
  EXPECT_EQ(end_of(1).code, 0);
}

}  // namespace
}  // namespace berth
