// kill -9 at every step of daemon, launcher, shim and job, and files that nobody should believe.
// Each attempt must end up reported once, with the true code or as lost, and have run at most once.
#include <sys/file.h>

#include "exec/shim_fixture.h"

namespace berth {
namespace {

using Kind = AttemptEnd::Kind;

struct Step {
  const char* name;
  const char* failpoints;
  Kind kind = Kind::Exited;
};
std::string name_of(const testing::TestParamInfo<Step>& info) { return info.param.name; }

/// What the test's job does; the file shows how often it has run.
constexpr const char* kJob = "echo ran >> ran; exit 7";

class LauncherCrashTest : public testing::TestWithParam<Step>, public ShimFixture {};

TEST_P(LauncherCrashTest, LosesNothing) {
  set_failpoints(GetParam().failpoints);
  make();
  set_failpoints("");  // for the next launcher
  for (std::uint64_t job = 1; job <= 3; ++job) {
    start(job, "echo " + std::to_string(job) + " >> ran; exit 7");
  }
  for (std::uint64_t job = 1; job <= 3; ++job) {
    EXPECT_EQ(end_of(job).kind, Kind::Exited);
    EXPECT_EQ(end_of(job).code, 7);
  }
  EXPECT_EQ(std::filesystem::file_size(path("ran")), 6U);
}

INSTANTIATE_TEST_SUITE_P(Steps, LauncherCrashTest,
                         testing::Values(Step{"BeforeFork", "launcher.before_fork=kill"},
                                         Step{"BeforeReply", "launcher.before_reply=kill"},
                                         Step{"AfterReply", "launcher.after_reply=kill"}),
                         name_of);

class ShimCrashTest : public testing::Test, public ShimFixture {
 protected:
  /// The file of an attempt as a shim would have left it, and its lock.
  Fd forge(std::uint64_t job, ProcessIdentity shim, ProcessIdentity process,
           const std::string& boot_id) {
    const AttemptName attempt{JobId{job}, 1};
    UnbornRecord unborn(attempt, boot_id, "");
    unborn.set_shim(shim);
    unborn.born_after(process.first_tick);
    unborn.seal(process.pid, process.last_tick);
    const std::string name = "attempts/" + std::to_string(job) + ".1";
    write(name, {unborn.data(), unborn.size()});
    Fd lock(::open(path(name).c_str(), O_RDONLY | O_CLOEXEC));
    EXPECT_EQ(::flock(lock.get(), LOCK_EX | LOCK_NB), 0);
    return lock;
  }
  void forge_end(std::uint64_t job, int code) {
    const EndLine line(record_name({JobId{job}, 1}), EndRecord{code, 0, 0, StartStep::None, 1});
    write("attempts/" + std::to_string(job) + ".1.exit", {line.data(), line.size()});
  }
  static std::string boot_id() { return read_boot_id("/proc/sys/kernel/random/boot_id"); }
};

TEST_F(ShimCrashTest, AnIdleLauncherIsReplacedAndJobsGoOn) {
  make();
  make_gate();
  start(1, "read x < gate; exit 7");
  EXPECT_GT(pid_of(1), 0);
  kill_now(find("berth-launcher"));
  start(2, "exit 8");
  EXPECT_EQ(end_of(2).code, 8);
  release();
  EXPECT_EQ(end_of(1).code, 7);
}

TEST_F(ShimCrashTest, LaunchersThatAllDieAreGivenUp) {
  set_failpoints("launcher.before_fork=kill");
  make();
  start(1, kJob);
  EXPECT_EQ(end_of(1).kind, Kind::NotStarted);
  EXPECT_FALSE(exists("ran"));
  set_failpoints("");
  start(2, "exit 8");
  EXPECT_EQ(end_of(2).code, 8);
}

class ShimStepTest : public testing::TestWithParam<Step>, public ShimFixture {};

TEST_P(ShimStepTest, EndsOnceAndTruly) {
  set_failpoints(GetParam().failpoints);
  make();
  start(1, kJob);
  EXPECT_EQ(end_of(1).kind, GetParam().kind);
  EXPECT_EQ(end_of(1).code, GetParam().kind == Kind::Exited ? 7 : 0);
  EXPECT_LE(text("ran").size(), 4U);
  runner_->forget(JobId{1}, 1);
  pump(0);
  EXPECT_EQ(ends_.size(), 1U);
}

INSTANTIATE_TEST_SUITE_P(
    Steps, ShimStepTest,
    testing::Values(Step{"BeforeCreate", "shim.before_create=kill", Kind::Lost},
                    Step{"AfterCreate", "shim.after_create=kill", Kind::Lost},
                    Step{"AfterSpawn", "shim.after_spawn=kill", Kind::Lost},
                    Step{"AfterStart", "shim.after_start=kill", Kind::Lost},
                    Step{"AfterJob", "shim.after_job=kill", Kind::Lost},
                    Step{"BeforeRename", "shim.before_rename=kill", Kind::Exited},
                    Step{"AfterEnd", "shim.after_end=kill", Kind::Exited}),
    name_of);

class OrphanTest : public testing::TestWithParam<bool>, public ShimFixture {
 protected:
  void SetUp() override { make({.use_cgroups = GetParam()}); }
};

TEST_P(OrphanTest, AJobWithoutItsShimGoesOnAndIsLostAtItsEnd) {
  make_gate();
  start(1, "read x < gate; echo done");
  EXPECT_GT(pid_of(1), 0);
  kill_now(find("berth-shim"));
  pump(50);
  EXPECT_FALSE(has_ended(1));
  release();
  EXPECT_EQ(end_of(1).kind, Kind::Lost);
  EXPECT_EQ(text("out"), "done\n");
}

TEST_P(OrphanTest, AJobWithoutItsShimCanBeKilled) {
  make_gate("up");
  start(1, "(setsid sh -c 'sleep 1000 & echo up > up; wait' &); sleep 1000");
  EXPECT_EQ(hear("up"), "up\n");
  EXPECT_GT(pid_of(1), 0);
  kill_now(find("berth-shim"));
  pump(50);
  runner_->stop(JobId{1}, StopSignal::Kill);
  EXPECT_EQ(end_of(1).kind, Kind::Lost);
  EXPECT_TRUE(eventually([&] { return holders(folder_ + "/1.1").empty(); }));
}

TEST_P(OrphanTest, WhatAnOrphanLeavesIsEnded) {
  make_gate();
  make_gate("up");
  start(1, "setsid sh -c 'echo up > up; exec sleep 1000' & read x < gate");
  EXPECT_EQ(hear("up"), "up\n");
  EXPECT_GT(pid_of(1), 0);
  kill_now(find("berth-shim"));
  pump(50);
  release();
  EXPECT_EQ(end_of(1).kind, Kind::Lost);
  EXPECT_TRUE(eventually([&] { return holders(folder_ + "/1.1").empty(); }));
}

INSTANTIATE_TEST_SUITE_P(Ways, OrphanTest, testing::Bool(),
                         [](const auto& way) { return way.param ? "Cgroup" : "Parentage"; });

/// A daemon in a process of its own, to be killed.
class DaemonCrash : public ShimFixture {
 protected:
  /// Runs the job as a daemon does: it writes the end down, then forgets it.
  pid_t daemon(const std::string& failpoints, const std::string& command) {
    const pid_t pid = ::fork();
    if (pid == 0) {
      set_failpoints(failpoints);
      auto made = ShimRunner::make(folder_);
      if (!made || !(*made)->start(launch(1, command))) {
        ::_exit(1);
      }
      runner_ = std::move(*made);
      for (;;) {
        pump();
        for (const AttemptStart& start : std::exchange(starts_, {})) {
          write("started", std::to_string(start.pid));
        }
        for (const AttemptEnd& end : std::exchange(ends_, {})) {
          write("ended", std::to_string(static_cast<int>(end.kind)) + std::to_string(end.code));
          runner_->forget(end.job, end.attempt);
          ::_exit(0);
        }
      }
    }
    return pid;
  }
  static int wait_for(pid_t pid) {
    int status = 0;
    EXPECT_EQ(::waitpid(pid, &status, 0), pid);
    return status;
  }
};

class DaemonStepTest : public testing::TestWithParam<Step>, public DaemonCrash {};

TEST_P(DaemonStepTest, TheNextOneFindsTheTruth) {
  EXPECT_EQ(WTERMSIG(wait_for(daemon(GetParam().failpoints, kJob))), SIGKILL);
  make();
  const std::vector<AttemptStart> adopted = runner_->adopt();
  pump(0);
  if (adopted.empty() && ends_.empty() && !exists("ended")) {
    start(1, kJob);  // nothing is known of it: it never started
  }
  if (exists("ended")) {
    // It may be told again, for it was not forgotten; but not otherwise.
    EXPECT_EQ(text("ended"), "07");
    EXPECT_TRUE(adopted.empty());
    EXPECT_TRUE(ends_.empty() || end_of(1).code == 7);
    runner_->forget(JobId{1}, 1);
  } else {
    EXPECT_EQ(end_of(1).kind, GetParam().kind);
    EXPECT_EQ(end_of(1).code, GetParam().kind == Kind::Exited ? 7 : 0);
    runner_->forget(JobId{1}, 1);
  }
  if (GetParam().kind == Kind::Exited) {
    EXPECT_EQ(text("ran"), "ran\n");
  }
  runner_.reset();
  ends_.clear();
  make();
  EXPECT_TRUE(runner_->adopt().empty());
  pump(0);
  EXPECT_TRUE(ends_.empty());
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_), {}), 1);  // the lock
}

INSTANTIATE_TEST_SUITE_P(
    Steps, DaemonStepTest,
    testing::Values(
        Step{"BeforeRequest", "runner.before_request=kill"},
        Step{"AfterRequest", "runner.after_request=kill"},
        Step{"AtTheEnd", "runner.shim_ended=kill"},
        Step{"WhileForgetting", "runner.between_removals=kill"},
        Step{"WithItsLauncherBeforeFork", "runner.after_request=kill;launcher.before_fork=kill"},
        Step{"WithItsLauncherBeforeReply", "runner.after_request=kill;launcher.before_reply=kill"},
        Step{"WithItsShimAfterTheEnd", "runner.shim_ended=kill;shim.after_end=kill"},
        Step{"WithItsShimAfterTheJob", "runner.shim_ended=kill;shim.after_job=kill", Kind::Lost},
        Step{"WithItsShimWhileTheJobRuns", "runner.shim_ended=kill;shim.after_start=kill",
             Kind::Lost},
        Step{"WithItsShimBeforeTheRename", "runner.shim_ended=kill;shim.before_rename=kill"},
        Step{"WithItsShimBeforeTheJob", "runner.shim_ended=kill;shim.after_create=kill",
             Kind::Lost}),
    name_of);

class DaemonCrashTest : public testing::Test, public DaemonCrash {};

TEST_F(DaemonCrashTest, ARunningJobIsAdopted) {
  make_gate();
  const pid_t first = daemon("", "read x < gate; exit 7");
  ASSERT_TRUE(eventually([&] { return !text("started").empty(); }));
  ::kill(first, SIGKILL);
  wait_for(first);
  make();
  const std::vector<AttemptStart> adopted = runner_->adopt();
  ASSERT_EQ(adopted.size(), 1U);
  EXPECT_EQ(std::to_string(adopted[0].pid), text("started"));
  EXPECT_FALSE(runner_->start(launch(1, kJob)).has_value());
  runner_->pause(JobId{1}, true);
  EXPECT_TRUE(eventually([&] { return state_of(adopted[0].pid) == 'T'; }));
  runner_->pause(JobId{1}, false);
  release();
  EXPECT_EQ(end_of(1).code, 7);
  EXPECT_TRUE(starts_.empty());
}

TEST_F(DaemonCrashTest, AnAdoptedJobCanBeKilled) {
  make_gate();
  const pid_t first = daemon("", "read x < gate");
  ASSERT_TRUE(eventually([&] { return !text("started").empty(); }));
  ::kill(first, SIGKILL);
  wait_for(first);
  make();
  EXPECT_EQ(runner_->adopt().size(), 1U);
  runner_->stop(JobId{1}, StopSignal::Kill);
  EXPECT_EQ(end_of(1).signal, SIGKILL);
}

TEST_F(DaemonCrashTest, AnEndThatNobodySawIsReported) {
  make_gate();
  const pid_t first = daemon("", "read x < gate; exit 7");
  ASSERT_TRUE(eventually([&] { return !text("started").empty(); }));
  ::kill(first, SIGKILL);
  wait_for(first);
  release();
  EXPECT_TRUE(deserted());
  make();
  EXPECT_TRUE(runner_->adopt().empty());
  EXPECT_EQ(end_of(1).code, 7);
  EXPECT_EQ(end_of(1).kind, Kind::Exited);
}

TEST_F(DaemonCrashTest, ANewbornShimIsWaitedFor) {
  // The shim exists, its file does not yet: who looked into the folder now would run it again.
  const pid_t first = daemon("shim.before_create=stop", kJob);
  ASSERT_TRUE(eventually([&] { return state_of(find("berth-shim")) == 'T'; }));
  ::kill(first, SIGKILL);
  wait_for(first);
  const auto early = ShimRunner::make(folder_, {.patience = std::chrono::milliseconds(100)});
  EXPECT_FALSE(early.has_value());
  ::kill(find("berth-shim"), SIGCONT);
  make();
  (void)runner_->adopt();
  EXPECT_EQ(end_of(1).code, 7);
  EXPECT_EQ(text("ran"), "ran\n");
}

TEST_F(DaemonCrashTest, AFolderHasOneDaemon) {
  make();
  const auto second = ShimRunner::make(folder_, {.patience = std::chrono::milliseconds(100)});
  ASSERT_FALSE(second.has_value());
  EXPECT_EQ(second.error().code, ErrorCode::Unavailable);
  start(1, "exit 7");
  EXPECT_EQ(end_of(1).code, 7);
}

TEST_F(ShimCrashTest, TornFilesAreNeverBelieved) {
  ASSERT_EQ(::mkdir(folder_.c_str(), 0700), 0);
  write("attempts/1.1", "");
  write("attempts/2.1", "berth-attempt2 2.1 0000");
  (void)forge(3, {}, {}, boot_id());
  write("attempts/4.1.exit", "berth-exit2 4.1 0 0");
  forge_end(5, 9);
  std::filesystem::resize_file(path("attempts/5.1.exit"), 40);
  (void)forge(6, {}, {}, boot_id());
  forge_end(6, 10);  // of a shim that was asked twice
  forge_end(7, 11);
  write("attempts/notes.txt", "not ours");
  make();
  EXPECT_TRUE(runner_->adopt().empty());
  pump(0);
  EXPECT_EQ(ends_.size(), 7U);
  for (const std::uint64_t lost : {1, 2, 3, 4, 5}) {
    EXPECT_EQ(end_of(lost).kind, Kind::Lost) << lost;
    EXPECT_EQ(end_of(lost).code, 0) << lost;
  }
  for (const std::uint64_t known : {6, 7}) {
    EXPECT_EQ(end_of(known).kind, Kind::Exited) << known;
    EXPECT_EQ(end_of(known).code, static_cast<int>(known) + 4);
  }
  for (std::uint64_t job = 1; job <= 7; ++job) {
    runner_->forget(JobId{job}, 1);
  }
  for (std::uint64_t job = 1; job <= 7; ++job) {
    EXPECT_FALSE(exists("attempts/" + std::to_string(job) + ".1")) << job;
  }
  EXPECT_TRUE(exists("attempts/notes.txt"));
}

TEST_F(ShimCrashTest, TheFileOfAnAttemptThatIsOverServesTheNext) {
  make();
  for (std::uint64_t job = 1; job <= 5; ++job) {
    start(job, "exit " + std::to_string(job));
    EXPECT_EQ(end_of(job).code, static_cast<int>(job));
    runner_->forget(JobId{job}, 1);
    // Beside the launcher's own.
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_), {}), 2) << job;
  }
}

TEST_F(ShimCrashTest, WhatAnotherAttemptLeftInTheFileIsNotBelieved) {
  make();
  start(1, "exit 7");
  EXPECT_EQ(end_of(1).code, 7);
  runner_.reset();
  // The next shim dies when the file has its new name and still the old contents.
  set_failpoints("shim.after_create=kill");
  make();
  set_failpoints("");
  EXPECT_TRUE(runner_->adopt().empty());
  runner_->forget(JobId{1}, 1);
  start(2, "exit 8");
  EXPECT_EQ(end_of(2).kind, Kind::Lost);
}

TEST_F(ShimCrashTest, AFileThatIsStillLockedIsNotUsedAgain) {
  make();
  start(1, "exit 7");
  EXPECT_EQ(end_of(1).code, 7);
  const Fd lock(::open(path("attempts/1.1.exit").c_str(), O_RDONLY | O_CLOEXEC));
  ASSERT_EQ(::flock(lock.get(), LOCK_EX | LOCK_NB), 0);  // as by a process that escaped
  runner_->forget(JobId{1}, 1);
  start(2, "exit 8");
  EXPECT_EQ(end_of(2).code, 8);
  EXPECT_FALSE(exists("attempts/1.1.exit"));
}

TEST_F(ShimCrashTest, AReusedNumberIsNobodyOfOurs) {
  ASSERT_EQ(::mkdir(folder_.c_str(), 0700), 0);
  const pid_t stranger = ::fork();
  if (stranger == 0) {
    ::execl("/bin/sleep", "sleep", "1000", nullptr);
    ::_exit(1);
  }
  const ProcessIdentity now = *identify(stranger);
  const ProcessIdentity then{stranger, now.first_tick - 100, now.first_tick - 1};
  const Fd lock = forge(1, then, then, boot_id());
  make();
  EXPECT_TRUE(runner_->adopt().empty());
  EXPECT_EQ(end_of(1).kind, Kind::Lost);
  EXPECT_EQ(::waitpid(stranger, nullptr, WNOHANG), 0) << "a stranger was killed";
  ::kill(stranger, SIGKILL);
  ::waitpid(stranger, nullptr, 0);
}

TEST_F(ShimCrashTest, AnotherBootEndsEverythingThatHadNotEnded) {
  ASSERT_EQ(::mkdir(folder_.c_str(), 0700), 0);
  write("boot", "this-boot\n");
  const ProcessIdentity self = *identify(::getpid());
  forge(1, self, self, "earlier-boot");
  forge(2, self, self, "earlier-boot");
  forge_end(2, 12);
  make({.boot_id_path = path("boot")});
  EXPECT_TRUE(runner_->adopt().empty());
  EXPECT_EQ(end_of(1).kind, Kind::Lost);
  EXPECT_EQ(end_of(2).code, 12);
  EXPECT_EQ(end_of(2).kind, Kind::Exited);
}

}  // namespace
}  // namespace berth
