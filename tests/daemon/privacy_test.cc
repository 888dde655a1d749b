// Privacy: what is left of a job for others, and what others can choose by.
#include "daemon/privacy.h"

#include <gtest/gtest.h>

#include "daemon/selector.h"

namespace berth {
namespace {

constexpr uid_t kDaemonUser = 1000;
constexpr uid_t kOtherUser = 1001;
constexpr uid_t kBob = 1002;

JobReport secret_report() {
  JobReport report;
  report.id = JobId{7};
  report.state = "running";
  report.gpus = {"0"};
  report.pid = 4711;
  report.reason = report.log = report.why = "secret";
  report.environment = {"SECRET=secret"};
  JobDescription& job = report.description;
  job.user = kOtherUser;
  job.name = job.project = job.command = job.directory = job.output = job.error = job.sweep =
      "secret";
  job.labels = {{"secret", "secret"}};
  job.parameters = {{"secret", "secret"}};
  job.environment = {"A=secret"};
  job.spec.needs.gpus = 2;
  AttemptReport& attempt = report.attempts.emplace_back();
  attempt.log = attempt.error_log = attempt.reason = "secret";
  return report;
}

TEST(Privacy, OthersSeeNoText) {
  const Privacy privacy(true, kDaemonUser);
  for (const uid_t viewer : {uid_t{0}, kDaemonUser, kOtherUser}) {
    EXPECT_NE(to_json(privacy.shown(secret_report(), viewer)).find("secret"), std::string::npos);
  }
  const std::string seen = to_json(privacy.shown(secret_report(), kBob));
  EXPECT_EQ(seen.find("secret"), std::string::npos) << seen;
  EXPECT_EQ(seen.find("4711"), std::string::npos) << seen;
  EXPECT_NE(seen.find(R"("gpus_needed":2)"), std::string::npos) << seen;
  EXPECT_NE(seen.find(R"("state":"running")"), std::string::npos) << seen;
  EXPECT_NE(to_json(Privacy(false, kDaemonUser).shown(secret_report(), kBob)).find("secret"),
            std::string::npos);
}

TEST(Privacy, AChoiceByWhatIsHiddenMeansOnesOwnJobs) {
  const Privacy privacy(true, kDaemonUser);
  for (const char* word : {"secret", "name=s*", "project=secret", "sweep=secret", "label=a=b"}) {
    const JobFilter filter = parse_selector({word}, {}).value();
    EXPECT_EQ(privacy.narrowed(filter, kBob).user, kBob) << word;
    EXPECT_FALSE(privacy.narrowed(filter, kDaemonUser).user.has_value()) << word;
  }
  for (const char* word : {"7", "state=live", "user=1001"}) {
    const JobFilter filter = parse_selector({word}, {}).value();
    EXPECT_EQ(privacy.narrowed(filter, kBob).user, filter.user) << word;
  }
  const JobFilter both =
      privacy.narrowed(parse_selector({"user=1001", "name=s*"}, {}).value(), kBob);
  EXPECT_EQ(both.ids.at(0).last, JobId{0});
}

}  // namespace
}  // namespace berth
