// The locks on a job's devices stay while anything of the job does, whoever else dies.
#include <sys/file.h>
#include <unistd.h>

#include "exec/direct_runner.h"
#include "exec/shim_fixture.h"

namespace berth {
namespace {

class ShimLocksTest : public testing::Test, public ShimFixture {
 protected:
  void SetUp() override {
    make();
    write("device0", "");
    write("device1", "");
  }

  Fd lock(const std::string& name) const {
    Fd file(::open(path(name).c_str(), O_RDONLY | O_CLOEXEC));
    EXPECT_EQ(::flock(file.get(), LOCK_SH | LOCK_NB), 0);
    return file;
  }
  bool is_free(const std::string& name) const {
    const Fd file(::open(path(name).c_str(), O_RDONLY | O_CLOEXEC));
    return ::flock(file.get(), LOCK_EX | LOCK_NB) == 0;
  }
  ShimLaunch locked(std::uint64_t job, std::string command) const {
    ShimLaunch made = launch(job, std::move(command));
    made.locks = {path("device0"), path("device1")};
    return made;
  }
};

TEST_F(ShimLocksTest, AreHeldUntilTheJobHasEnded) {
  make_gate();
  {
    const Fd daemon0 = lock("device0");
    const Fd daemon1 = lock("device1");
    ASSERT_TRUE(runner_->start(locked(1, "read line < gate")).has_value());
    pid_of(1);
  }
  EXPECT_FALSE(is_free("device0"));
  EXPECT_FALSE(is_free("device1"));
  release();
  EXPECT_EQ(end_of(1).code, 0);
  EXPECT_TRUE(is_free("device0"));
  EXPECT_TRUE(is_free("device1"));
}

TEST_F(ShimLocksTest, OutliveTheShim) {
  make_gate();
  {
    const Fd daemon = lock("device0");
    ASSERT_TRUE(runner_->start(locked(1, "read line < gate")).has_value());
    pid_of(1);
  }
  kill_now(find("berth-shim"));
  EXPECT_FALSE(is_free("device0"));
  release();
  EXPECT_EQ(end_of(1).kind, AttemptEnd::Kind::Lost);
  EXPECT_TRUE(is_free("device0"));
}

TEST_F(ShimLocksTest, AMissingOneKeepsTheJobFromStarting) {
  ShimLaunch missing = locked(1, "echo > ran");
  missing.locks.push_back(path("device2"));
  ASSERT_TRUE(runner_->start(missing).has_value());
  EXPECT_EQ(end_of(1).kind, AttemptEnd::Kind::NotStarted);
  EXPECT_EQ(end_of(1).start_error, ENOENT);
  EXPECT_EQ(end_of(1).start_step, StartStep::Device);
  ASSERT_EQ(::symlink(path("device0").c_str(), path("link").c_str()), 0);
  ShimLaunch linked = launch(2, "echo > ran");
  linked.locks = {path("link")};
  ASSERT_TRUE(runner_->start(linked).has_value());
  EXPECT_EQ(end_of(2).start_error, ELOOP);
  EXPECT_FALSE(exists("ran"));
}

// The daemon dies before its shim has joined it in the locks: they may be another berth's by then.
TEST_F(ShimLocksTest, ADeadDaemonsRequestIsNotCarriedOut) {
  runner_.reset();
  const pid_t daemon = ::fork();
  if (daemon == 0) {
    set_failpoints("shim.before_locks=stop");
    make();
    (void)runner_->start(locked(1, "echo > ran")).has_value();
    ::pause();
    ::_exit(0);
  }
  pid_t shim = 0;
  ASSERT_TRUE(eventually([&] { return (shim = find("berth-shim")) > 0 && state_of(shim) == 'T'; }));
  ::kill(daemon, SIGKILL);
  ::waitpid(daemon, nullptr, 0);
  ::kill(shim, SIGCONT);
  ASSERT_TRUE(deserted());
  make();
  EXPECT_TRUE(runner_->adopt().empty());
  EXPECT_FALSE(exists("ran"));
  // And it left no trace: the successor may ask again.
  ASSERT_TRUE(runner_->start(locked(1, "echo > ran")).has_value());
  EXPECT_EQ(end_of(1).code, 0);
  EXPECT_TRUE(exists("ran"));
}

TEST_F(ShimLocksTest, ADirectChildKeepsThemToo) {
  make_gate();
  auto runner = DirectRunner::make();
  ASSERT_TRUE(runner.has_value());
  Fd mine = lock("device0");
  Launch direct;
  direct.job = JobId{1};
  direct.command = "read line < " + path("gate");
  direct.locks = {mine.get()};
  ASSERT_TRUE((*runner)->start(std::move(direct)).has_value());
  mine.reset();
  Fd gate;
  ASSERT_TRUE(eventually([&] {  // that it has come to its command
    gate = Fd(::open(path("gate").c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC));
    return static_cast<bool>(gate);
  }));
  EXPECT_FALSE(is_free("device0"));
  gate.reset();
  const Fd waiting(::open(path("device0").c_str(), O_RDONLY | O_CLOEXEC));
  EXPECT_EQ(::flock(waiting.get(), LOCK_EX), 0);
}

}  // namespace
}  // namespace berth
