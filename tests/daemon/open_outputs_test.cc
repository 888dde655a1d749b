// Which files are spoken for by jobs that have not ended.
#include "daemon/open_outputs.h"

#include <gtest/gtest.h>

#include "daemon/parts.h"

namespace berth {
namespace {

JobDescription writing(const char* output, std::optional<std::uint32_t> index = {}) {
  JobDescription description;
  description.directory = "/home/ann";
  description.output = output;
  description.array_index = index;
  return description;
}

TEST(OpenOutputsTest, AFileIsSpokenForUntilItsJobHasEnded) {
  OpenOutputs open;
  open.claim(JobId{1}, 1, writing("log"));
  EXPECT_FALSE(open.check(writing("/home/ann/log"), 1));
  EXPECT_TRUE(open.check(writing("other"), 1));
  JobDescription error;
  error.error = "/home/ann/log";
  EXPECT_FALSE(open.check(error, 1));
  JobDescription stranger = writing("log");
  stranger.user = 4242;
  EXPECT_TRUE(open.check(stranger, 1)) << "whom it would tell what others do";
  open.left(JobId{2});
  EXPECT_FALSE(open.check(writing("log"), 1));
  open.left(JobId{1});
  EXPECT_TRUE(open.check(writing("log"), 1));
  EXPECT_EQ(open.size(), 0U);
}

TEST(OpenOutputsTest, ManyMayUseANumberOrADevice) {
  OpenOutputs open;
  for (const char* pattern : {"", "/dev/null", "log-%j"}) {
    open.claim(JobId{1}, 1, writing(pattern));
    EXPECT_TRUE(open.check(writing(pattern), 1)) << pattern;
  }
  EXPECT_EQ(open.size(), 0U);
}

TEST(OpenOutputsTest, AJobMayFollowInTheSameFile) {
  OpenOutputs open;
  open.claim(JobId{1}, 1, writing("log"));
  JobDescription next = writing("log");
  next.spec.after = {{JobId{1}, Dependency::When::Ok}};
  EXPECT_TRUE(open.check(next, 1));
  open.claim(JobId{2}, 1, next);
  open.left(JobId{1});
  EXPECT_FALSE(open.check(writing("log"), 1)) << "the second has it now";
  open.left(JobId{2});
  EXPECT_TRUE(open.check(writing("log"), 1));
}

TEST(OpenOutputsTest, AnArrayTakesTheRoomOfOne) {
  OpenOutputs open;
  open.claim(JobId{1}, 1'000'000, writing("log-%a", 10));
  EXPECT_EQ(open.size(), 1U);
  EXPECT_FALSE(open.check(writing("log-%a", 0), 11));
  EXPECT_TRUE(open.check(writing("log-%a", 0), 10));
  EXPECT_FALSE(open.check(writing("log-%a", 1'000'009), 1));
  EXPECT_TRUE(open.check(writing("log-%a", 1'000'010), 1));
  open.left(JobId{1});
  EXPECT_TRUE(open.check_rerun(JobId{1}, writing("log-%a", 10))) << "it is still its own";
  open.claim(JobId{1}, 1, writing("log-%a", 10));
  for (std::uint64_t i = 1; i <= 1'000'000; ++i) {
    open.left(JobId{i});
  }
  EXPECT_EQ(open.size(), 0U);
}

TEST(OpenOutputsTest, AfterARestartMembersAreOneArrayAgain) {
  OpenOutputs open;
  for (std::uint32_t i = 0; i < 1000; ++i) {
    open.claim(JobId{i + 1}, 1, writing("log-%a", i));
  }
  EXPECT_EQ(open.size(), 1U);
  EXPECT_FALSE(open.check(writing("log-%a", 999), 1));
  EXPECT_TRUE(open.check(writing("log-%a", 1000), 1));
}

class OpenOutputsOfADaemon : public PartsTest {};

TEST_F(OpenOutputsOfADaemon, AreRefusedToOthersAlsoAfterARestart) {
  const char* fields = R"("command":"a","output":"/tmp/log","held":true)";
  {
    DaemonParts parts(folder_);
    EXPECT_TRUE(parts.restore());
    EXPECT_EQ(parts.submit(fields).status, 200);
    const HttpResponse again = parts.submit(fields);
    EXPECT_EQ(again.status, 409) << again.body;
    EXPECT_NE(again.body.find("job 1, which has not ended, already writes to /tmp/log"),
              std::string::npos)
        << again.body;
  }
  DaemonParts parts(folder_);
  EXPECT_TRUE(parts.restore());
  EXPECT_EQ(parts.submit(fields).status, 409);
  EXPECT_EQ(parts.ask("POST", "/v1/jobs/kill", "", {{"select", "1"}}).status, 200);
  parts.turn();
  EXPECT_EQ(parts.submit(fields).status, 200);
  EXPECT_EQ(parts.ask("POST", "/v1/jobs/rerun", "", {{"select", "1"}}).status, 409)
      << "job 2 has the file now";
  EXPECT_EQ(parts.ask("POST", "/v1/jobs/kill", "", {{"select", "2"}}).status, 200);
  parts.turn();
  EXPECT_EQ(parts.ask("POST", "/v1/jobs/rerun", "", {{"select", "1"}}).status, 200);
}

}  // namespace
}  // namespace berth
