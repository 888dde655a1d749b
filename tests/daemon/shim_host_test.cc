#include "daemon/shim_host.h"

#include <gtest/gtest.h>

#include "base/failpoint.h"
#include "daemon/parts.h"

namespace berth {
namespace {

class ShimHostTest : public PartsTest {
 protected:
  ShimHostTest() { EXPECT_TRUE(parts_.restore()); }
  ~ShimHostTest() override { set_failpoints(""); }

  DaemonParts parts_{folder_};
};

TEST_F(ShimHostTest, AJobsWay) {
  parts_.submit(R"("command":"train")");
  ASSERT_EQ(parts_.runner.launches.size(), 1U);
  const ShimLaunch& launch = parts_.runner.launches[0];
  EXPECT_EQ(launch.command, "train");
  EXPECT_EQ(launch.stdout_path, folder_ + "/logs/1.1.log");
  EXPECT_EQ(launch.locks.size(), 1U);
  EXPECT_EQ(parts_.phase(1), JobPhase::Starting);
  parts_.starts(1);
  EXPECT_EQ(parts_.phase(1), JobPhase::Running);
  parts_.ends(1, 0);
  parts_.turn();
  EXPECT_EQ(parts_.phase(1), JobPhase::Succeeded);
  ASSERT_EQ(parts_.runner.forgotten.size(), 1U);
  EXPECT_EQ(parts_.desk->counters.started, 1U);
}

TEST_F(ShimHostTest, NothingStartsThatIsNotOnDisk) {
  set_failpoints("store.commit=errno:28");
  parts_.requests->handle(
      [&] {
        HttpRequest request;
        request.method = "POST";
        request.path = "/v1/jobs";
        request.body = R"({"jobs":[{"directory":"/","command":"true"}]})";
        request.peer.uid = ::getuid();
        return request;
      }(),
      std::make_unique<RecordingResponder>(std::make_shared<Received>()));
  EXPECT_FALSE(parts_.turn());
  EXPECT_FALSE(parts_.turn());
  EXPECT_TRUE(parts_.runner.launches.empty());
  set_failpoints("");
  EXPECT_TRUE(parts_.turn());
  parts_.turn();
  EXPECT_EQ(parts_.runner.launches.size(), 1U);
}

TEST_F(ShimHostTest, ARunnerThatRefusesIsAFailedStart) {
  parts_.runner.broken = true;
  parts_.submit(R"("command":"true")");
  parts_.turn();
  parts_.turn();
  EXPECT_EQ(parts_.phase(1), JobPhase::Failed);
}

TEST_F(ShimHostTest, AKillPassesThroughTheStore) {
  parts_.submit(R"("command":"true")");
  parts_.starts(1);
  EXPECT_EQ(parts_.ask("POST", "/v1/jobs/kill", "", {{"select", "1"}}).status, 200);
  EXPECT_EQ(parts_.runner.told, (std::vector<std::string>{"stop 1", "resume 1"}));
  AttemptEnd end;
  end.job = JobId{1};
  end.attempt = 1;
  end.signal = 15;
  parts_.runner.ends.push_back(end);
  parts_.turn();
  parts_.turn();
  EXPECT_EQ(parts_.phase(1), JobPhase::Cancelled);
}

TEST_F(ShimHostTest, AnotherAttemptHasARecordOfItsOwn) {
  parts_.submit(R"("command":"false","retries":1)");
  parts_.starts(1);
  parts_.ends(1, 3);
  for (int i = 0; i < 3 && parts_.runner.launches.size() < 2; ++i) {
    parts_.turn();
  }
  const auto attempts = parts_.state.store().attempts().of(JobId{1});
  ASSERT_TRUE(attempts);
  ASSERT_GE(attempts->size(), 1U);
  EXPECT_EQ(attempts->front().ending->exit_code, 3);
}

TEST_F(ShimHostTest, AnEndThatIsToldTwiceIsForgotten) {
  parts_.submit(R"("command":"true")");
  parts_.starts(1);
  parts_.ends(1, 0);
  parts_.turn();
  const std::size_t before = parts_.runner.forgotten.size();
  parts_.ends(1, 0);
  EXPECT_EQ(parts_.runner.forgotten.size(), before + 1);
  EXPECT_EQ(parts_.phase(1), JobPhase::Succeeded);
}

// --- what the daemon before has left

class RestoreTest : public PartsTest {};

/// Two jobs that have devices, one that waits and one that is held.
void leave_four(const std::string& folder) {
  DaemonParts before(folder);
  ASSERT_TRUE(before.restore());
  for (int i = 0; i < 3; ++i) {
    before.submit(R"("command":"true","gpus":1)");
  }
  before.submit(R"("command":"true","held":true)");
  before.starts(1);
  before.starts(2);
}

TEST_F(RestoreTest, RunningJobsGoOnAndWaitingOnesWait) {
  leave_four(folder_);
  DaemonParts parts(folder_);
  parts.runner.running = {{JobId{1}, 1, 4711, ""}, {JobId{2}, 1, 4712, ""}};
  ASSERT_TRUE(parts.restore());
  parts.turn();
  EXPECT_TRUE(parts.runner.launches.empty());
  EXPECT_EQ(parts.phase(1), JobPhase::Running);
  EXPECT_EQ(parts.phase(3), JobPhase::Queued);
  EXPECT_EQ(parts.phase(4), JobPhase::Held);
  parts.ends(1, 0);
  parts.turn();
  ASSERT_EQ(parts.runner.launches.size(), 1U);
  EXPECT_EQ(parts.runner.launches[0].job, JobId{3});
}

TEST_F(RestoreTest, WhatEndedMeanwhileHasItsOwnCode) {
  leave_four(folder_);
  DaemonParts parts(folder_);
  AttemptEnd end;
  end.job = JobId{1};
  end.attempt = 1;
  end.code = 5;
  parts.runner.ends = {end};
  parts.runner.running = {{JobId{2}, 1, 4712, ""}};
  ASSERT_TRUE(parts.restore());
  parts.turn();
  parts.turn();
  EXPECT_EQ(parts.phase(1), JobPhase::Failed);
  EXPECT_EQ(parts.state.store().jobs().record(JobId{1})->ending->exit_code, 5);
}

TEST_F(RestoreTest, WhatMayHaveRunIsLost) {
  leave_four(folder_);
  DaemonParts parts(folder_);
  parts.runner.records_are_gone = true;
  ASSERT_TRUE(parts.restore());
  parts.turn();
  parts.turn();
  EXPECT_EQ(parts.phase(1), JobPhase::Lost);
  EXPECT_EQ(parts.phase(2), JobPhase::Lost);
}

TEST_F(RestoreTest, WhatWasDecidedAndNeverBegunIsBegun) {
  {
    DaemonParts before(folder_);
    ASSERT_TRUE(before.restore());
    before.submit(R"("command":"true")");
    ASSERT_EQ(before.runner.launches.size(), 1U);
  }
  DaemonParts parts(folder_);
  ASSERT_TRUE(parts.restore());
  parts.turn();
  ASSERT_EQ(parts.runner.launches.size(), 1U);
  EXPECT_EQ(parts.runner.launches[0].attempt, 1U);
  EXPECT_EQ(parts.phase(1), JobPhase::Starting);
}

}  // namespace
}  // namespace berth
