#include "exec/shim_runner.h"

#include <string.h>
#include <sys/mount.h>

#include "exec/shim_fixture.h"

namespace berth {
namespace {

using Kind = AttemptEnd::Kind;

class ShimRunnerTest : public testing::TestWithParam<bool>, public ShimFixture {
 protected:
  void SetUp() override { make({.use_cgroups = GetParam()}); }
};

TEST_P(ShimRunnerTest, TellsExitCodeAndSignalApart) {
  start(1, "exit 0");
  start(2, "exit 42");
  start(3, "kill -SEGV $$");
  EXPECT_EQ(end_of(1).code, 0);
  EXPECT_EQ(end_of(1).kind, Kind::Exited);
  EXPECT_EQ(end_of(2).code, 42);
  EXPECT_EQ(end_of(2).signal, 0);
  EXPECT_EQ(end_of(3).signal, SIGSEGV);
  EXPECT_EQ(end_of(3).code, 0);
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const auto ended = std::chrono::nanoseconds(end_of(3).ended_at);
  EXPECT_LT(now - ended, kDeadline);
  EXPECT_LE(ended, now);
}

TEST_P(ShimRunnerTest, WritesOutputWhereAsked) {
  write("out", "before\n");
  start(1, "echo together; echo errors >&2");
  ShimLaunch apart = launch(2, "echo words; echo errors >&2; pwd");
  apart.stdout_path = path("two.out");
  apart.stderr_path = "two.err";
  ASSERT_TRUE(runner_->start(apart).has_value());
  ShimLaunch nowhere = launch(3, "echo x; readlink /proc/self/fd/1 > where");
  nowhere.stdout_path = "";
  ASSERT_TRUE(runner_->start(nowhere).has_value());
  EXPECT_EQ(end_of(1).code, 0);
  EXPECT_EQ(end_of(2).code, 0);
  EXPECT_EQ(end_of(3).code, 0);
  EXPECT_EQ(text("out"), "before\ntogether\nerrors\n");
  EXPECT_EQ(text("two.out"), "words\n" + base_ + "\n");
  EXPECT_EQ(text("two.err"), "errors\n");
  struct stat info {};
  ASSERT_EQ(::stat(path("two.out").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600U);
}

TEST_P(ShimRunnerTest, SaysWhyAJobDidNotStart) {
  ShimLaunch directory = launch(1, "true");
  directory.directory = "/no/such/folder";
  ShimLaunch output = launch(2, "true");
  output.stdout_path = "/dev/null/out";
  ShimLaunch errors = launch(3, "true");
  errors.stderr_path = base_;
  ShimLaunch large = launch(4, std::string(200 * 1024, 'x'));
  for (const ShimLaunch& one : {directory, output, errors, large}) {
    ASSERT_TRUE(runner_->start(one).has_value());
  }
  const auto expect = [&](std::uint64_t job, StartStep step, int error) {
    const AttemptEnd end = end_of(job);
    EXPECT_EQ(end.kind, Kind::NotStarted) << job;
    EXPECT_EQ(end.start_step, step) << job;
    EXPECT_EQ(end.start_error, error) << job;
  };
  expect(1, StartStep::Directory, ENOENT);
  expect(2, StartStep::Output, ENOTDIR);
  expect(3, StartStep::ErrorOutput, EISDIR);
  expect(4, StartStep::Command, E2BIG);
  ShimLaunch null = launch(5, std::string("a\0b", 3));
  EXPECT_FALSE(runner_->start(null).has_value());
}

TEST_P(ShimRunnerTest, GivesAJobACleanProcess) {
  const Fd leak(::open("/dev/null", O_RDONLY));
  start(1,
        "ls /proc/self/fd | tr '\\n' ' '; readlink /proc/self/fd/0;"
        "test $$ = $(ps -o pgid= -p $$) && echo own group;"
        "grep -E 'SigBlk|SigIgn' /proc/self/status | tr -d '\\n\\t'; tr '\\0' ' ' < "
        "/proc/$$/environ");
  EXPECT_EQ(end_of(1).code, 0);
  // 3 is of ls itself, 50 is the lock.
  EXPECT_EQ(text("out"),
            "0 1 2 3 50 /dev/null\nown group\n"
            "SigBlk:0000000000000000SigIgn:0000000000000000PATH=/usr/bin:/bin ");
}

TEST_P(ShimRunnerTest, PassesLargeCommandsAndEnvironments) {
  ShimLaunch large = launch(1, ": " + std::string(120 * 1024, 'x') + "; echo ${#V3}");
  for (int i = 0; i < 14; ++i) {
    large.environment.push_back("V" + std::to_string(i) + "=" + std::string(100'000, 'y'));
  }
  ASSERT_TRUE(runner_->start(large).has_value());
  start(2, "echo small >> small");
  EXPECT_EQ(end_of(1).code, 0);
  EXPECT_EQ(end_of(2).code, 0);
  EXPECT_EQ(text("out"), "100000\n");
  EXPECT_EQ(text("small"), "small\n");
}

TEST_P(ShimRunnerTest, TheStartNamesTheJob) {
  make_gate();
  start(1, "echo $$; read x < gate");
  const pid_t pid = pid_of(1);
  release();
  EXPECT_EQ(end_of(1).code, 0);
  EXPECT_EQ(text("out"), std::to_string(pid) + "\n");
}

TEST_P(ShimRunnerTest, KillReachesDoubleForksInTheirOwnSessions) {
  make_gate("up");
  start(1,
        "(setsid sh -c '(setsid sh -c \"echo up > up; exec sleep 1000\" &) ; exit 0' &) ; sleep "
        "1000");
  EXPECT_EQ(hear("up"), "up\n");
  runner_->stop(JobId{1}, StopSignal::Kill);
  EXPECT_EQ(end_of(1).signal, SIGKILL);
  // Its lock is free: nobody of the tree is left.
  EXPECT_TRUE(holders(folder_ + "/1.1").empty());
}

TEST_P(ShimRunnerTest, TerminateReachesTheWholeTreeAndCanBeCaught) {
  make_gate("up");
  start(1, "trap 'echo asked; exit 7' TERM; setsid sh -c 'echo up > up; sleep 1000' & wait");
  EXPECT_EQ(hear("up"), "up\n");
  runner_->stop(JobId{1}, StopSignal::Terminate);
  EXPECT_EQ(end_of(1).code, 7);
  EXPECT_TRUE(text("out").starts_with("asked\n"));
}

TEST_P(ShimRunnerTest, AJobThatIgnoresTermIsKilled) {
  make_gate("heard");
  start(1, "trap 'echo again > heard' TERM; echo x > heard; while :; do sleep 0.01; done");
  EXPECT_EQ(hear("heard"), "x\n");
  runner_->stop(JobId{1}, StopSignal::Terminate);
  EXPECT_EQ(hear("heard"), "again\n");
  EXPECT_FALSE(has_ended(1));
  runner_->stop(JobId{1}, StopSignal::Kill);
  EXPECT_EQ(end_of(1).signal, SIGKILL);
}

TEST_P(ShimRunnerTest, PausesAndResumesTheWholeTree) {
  make_gate();
  make_gate("up");
  start(1, "setsid sh -c 'echo $$ > up; read x < gate' & wait; exit 4");
  const pid_t inner = std::stoi(hear("up"));
  const pid_t outer = pid_of(1);
  runner_->pause(JobId{1}, true);
  EXPECT_TRUE(eventually([&] { return state_of(inner) == 'T' && state_of(outer) == 'T'; }));
  runner_->pause(JobId{1}, false);
  EXPECT_TRUE(eventually([&] { return state_of(inner) == 'S' && state_of(outer) == 'S'; }));
  runner_->pause(JobId{1}, true);
  EXPECT_TRUE(eventually([&] { return state_of(inner) == 'T' && state_of(outer) == 'T'; }));
  // A paused job still hears that it should end.
  runner_->stop(JobId{1}, StopSignal::Terminate);
  EXPECT_EQ(end_of(1).signal, SIGTERM);
}

TEST_P(ShimRunnerTest, TellsThatAJobHasStoppedAndThatItGoesOn) {
  make_gate("up");
  start(1, "echo up > up; exec sleep 1000");
  EXPECT_EQ(hear("up"), "up\n");
  const pid_t job = pid_of(1);
  const auto told = [&] { return runner_->take_pauses() == std::vector<JobId>{JobId{1}}; };
  EXPECT_TRUE(runner_->pause(JobId{1}, true));
  EXPECT_TRUE(eventually(told));
  EXPECT_EQ(state_of(job), 'T') << "not before";
  EXPECT_TRUE(runner_->pause(JobId{1}, false));
  EXPECT_TRUE(eventually(told));
  EXPECT_EQ(state_of(job), 'S');
  // What it does of its own accord is told to nobody.
  ::kill(job, SIGSTOP);
  EXPECT_TRUE(eventually([&] { return state_of(job) == 'T'; }));
  ::kill(job, SIGCONT);
  EXPECT_TRUE(eventually([&] { return state_of(job) == 'S'; }));
  runner_->stop(JobId{1}, StopSignal::Terminate);
  EXPECT_EQ(end_of(1).signal, SIGTERM);
  EXPECT_TRUE(runner_->take_pauses().empty());
}

TEST_P(ShimRunnerTest, SendsAnySignal) {
  make_gate("up");
  start(1, "trap 'exit 9' USR1; echo up > up; while :; do sleep 0.01; done");
  EXPECT_EQ(hear("up"), "up\n");
  runner_->send(JobId{1}, SIGUSR1);
  EXPECT_EQ(end_of(1).code, 9);
}

TEST_P(ShimRunnerTest, SignalsWaitForTheStart) {
  for (std::uint64_t job = 1; job <= 20; ++job) {
    start(job, "exec sleep 1000");
    runner_->stop(JobId{job}, StopSignal::Kill);
  }
  for (std::uint64_t job = 1; job <= 20; ++job) {
    EXPECT_EQ(end_of(job).kind, Kind::Exited);
    EXPECT_EQ(end_of(job).signal, SIGKILL) << end_of(job).code;
  }
}

TEST_P(ShimRunnerTest, WhatAJobLeavesBehindIsEnded) {
  make_gate("up");
  start(1, "setsid sh -c 'echo up > up; sleep 1000 & sleep 1000' & read x < up; exit 3");
  EXPECT_EQ(end_of(1).code, 3);
  EXPECT_TRUE(holders(folder_ + "/1.1").empty());
}

TEST_P(ShimRunnerTest, AJobStuckBeforeItsCommandCanBeKilled) {
  make_gate();
  ShimLaunch stuck = launch(1, "true");
  stuck.stdout_path = "gate";  // nobody reads it
  ASSERT_TRUE(runner_->start(stuck).has_value());
  EXPECT_GT(pid_of(1), 0);
  runner_->stop(JobId{1}, StopSignal::Kill);
  EXPECT_EQ(end_of(1).signal, SIGKILL);
}

TEST_P(ShimRunnerTest, AnAttemptRunsOnce) {
  start(1, "echo ran; exit 6");
  EXPECT_FALSE(runner_->start(launch(1, "echo again")).has_value());
  EXPECT_EQ(end_of(1).code, 6);
  ends_.clear();
  // Not forgotten, and asked for once more: the answer is the same.
  start(1, "echo again; exit 5");
  EXPECT_EQ(end_of(1).code, 6);
  EXPECT_EQ(text("out"), "ran\n");
  runner_->forget(JobId{1}, 1);
  EXPECT_FALSE(exists("attempts/1.1"));
  ends_.clear();
  ShimLaunch second = launch(1, "echo second");
  second.attempt = 2;
  ASSERT_TRUE(runner_->start(second).has_value());
  EXPECT_EQ(end_of(1).code, 0);
  EXPECT_EQ(end_of(1).attempt, 2);
}

TEST_P(ShimRunnerTest, AJobKilledFromOutsideHasThatSignal) {
  make_gate();
  start(1, "read x < gate");
  ::kill(pid_of(1), SIGKILL);
  EXPECT_EQ(end_of(1).kind, Kind::Exited);
  EXPECT_EQ(end_of(1).signal, SIGKILL);
}

TEST_P(ShimRunnerTest, TermToTheShimEndsTheJobInOrder) {
  make_gate("up");
  start(1, "trap 'exit 8' TERM; echo up > up; while :; do sleep 0.01; done");
  EXPECT_EQ(hear("up"), "up\n");
  ::kill(find("berth-shim"), SIGTERM);
  EXPECT_EQ(end_of(1).code, 8);
}

TEST_P(ShimRunnerTest, ManyQuickJobsAllReportTheirOwnEnd) {
  constexpr std::uint64_t kCount = 1000;  // with and without cgroups
  std::uint64_t started = 0;
  std::vector<int> codes(kCount + 1, -1);
  std::uint64_t ended = 0;
  const auto deadline = Clock::now() + 4 * kDeadline;
  while (ended < kCount && before(deadline)) {
    while (started < kCount && started - ended < 16) {
      ++started;
      start(started, "exit " + std::to_string(started % 200));
    }
    pump();
    for (const AttemptEnd& end : std::exchange(ends_, {})) {
      ASSERT_EQ(end.kind, Kind::Exited);
      ASSERT_EQ(codes[end.job.value], -1);
      codes[end.job.value] = end.code;
      runner_->forget(end.job, end.attempt);
      ++ended;
    }
  }
  for (std::uint64_t job = 1; job <= kCount; ++job) {
    ASSERT_EQ(codes[job], static_cast<int>(job % 200)) << job;
  }
  EXPECT_EQ(starts_.size(), kCount);
  runner_.reset();
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_), {}), 1);  // the lock
}

TEST_P(ShimRunnerTest, RunsAsAnotherUser) {
  if (::geteuid() != 0) {
    GTEST_SKIP() << "only root can run another's jobs";
  }
  constexpr uid_t kNobody = 65534;
  ASSERT_EQ(::chmod(base_.c_str(), 0755), 0);
  ASSERT_EQ(::mkdir(path("theirs").c_str(), 0755), 0);
  ASSERT_EQ(::chown(path("theirs").c_str(), kNobody, kNobody), 0);
  ShimLaunch theirs = launch(1, "id -u; id -g; id -G; echo x >&50");
  theirs.user = kNobody;
  theirs.directory = path("theirs");
  ASSERT_TRUE(runner_->start(theirs).has_value());
  ShimLaunch refused = launch(2, "true");
  refused.user = kNobody;  // may not write there
  ASSERT_TRUE(runner_->start(refused).has_value());
  ShimLaunch unknown = launch(3, "true");
  unknown.user = 1234567;
  ASSERT_TRUE(runner_->start(unknown).has_value());
  EXPECT_NE(end_of(1).code, 0);  // the lock's descriptor cannot be written
  EXPECT_TRUE(text("theirs/out").starts_with("65534\n65534\n65534\n"));
  struct stat info {};
  ASSERT_EQ(::stat(path("theirs/out").c_str(), &info), 0);
  EXPECT_EQ(info.st_uid, kNobody);
  EXPECT_EQ(end_of(2).start_step, StartStep::Output);
  EXPECT_EQ(end_of(2).start_error, EACCES);
  EXPECT_EQ(end_of(3).kind, Kind::NotStarted);
  EXPECT_EQ(end_of(3).start_step, StartStep::User);
}

INSTANTIATE_TEST_SUITE_P(Ways, ShimRunnerTest, testing::Bool(),
                         [](const auto& way) { return way.param ? "Cgroup" : "Parentage"; });

class ShimDiskTest : public testing::Test, public ShimFixture {};

TEST_F(ShimDiskTest, AFullDiskDelaysEndsAndLosesNone) {
  ASSERT_EQ(::mkdir(folder_.c_str(), 0700), 0);
  if (::mount("tmpfs", folder_.c_str(), "tmpfs", 0, "size=64k") != 0) {
    GTEST_SKIP() << "cannot mount a small tmpfs here: " << ::strerror(errno);
  }
  make();
  make_gate();
  start(1, "read x < gate; exit 33");
  ASSERT_TRUE(eventually([&] { return !text("attempts/1.1").empty(); }));
  {
    const Fd filler(::open((folder_ + "/filler").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
    const std::string block(4096, 'x');
    while (::write(filler.get(), block.data(), block.size()) > 0) {
    }
  }
  // The end has its room already.
  release();
  EXPECT_EQ(end_of(1).code, 33);
  EXPECT_EQ(end_of(1).kind, Kind::Exited);
  // An attempt that cannot be recorded is not run before there is room, or not at all.
  start(2, "echo ran >> two; exit 7");
  start(3, "echo ran >> three");
  EXPECT_TRUE(eventually([&] { return find("berth-shim") != 0; }));
  runner_->stop(JobId{3}, StopSignal::Terminate);
  EXPECT_EQ(end_of(3).kind, Kind::Exited);
  EXPECT_EQ(end_of(3).signal, SIGTERM);
  EXPECT_FALSE(has_ended(2));
  EXPECT_FALSE(exists("two"));
  EXPECT_EQ(::unlink((folder_ + "/filler").c_str()), 0);
  EXPECT_EQ(end_of(2).code, 7);
  EXPECT_EQ(text("two"), "ran\n");
  EXPECT_FALSE(exists("three"));
  runner_.reset();
  EXPECT_TRUE(deserted());
  EXPECT_EQ(::umount(folder_.c_str()), 0);
}

TEST_F(ShimDiskTest, AFailedWriteIsTriedAgain) {
  set_failpoints("shim.write_end=errno:28*3");
  make();
  start(1, "exit 21");
  EXPECT_EQ(end_of(1).code, 21);
  EXPECT_EQ(end_of(1).kind, Kind::Exited);
}

TEST_F(ShimDiskTest, AnAttemptThatCannotBeRecordedDoesNotRun) {
  set_failpoints("shim.create=errno:13");
  make();
  start(1, "echo ran");
  EXPECT_EQ(end_of(1).kind, Kind::NotStarted);
  EXPECT_EQ(end_of(1).start_error, EACCES);
  EXPECT_FALSE(exists("out"));
}

}  // namespace
}  // namespace berth
