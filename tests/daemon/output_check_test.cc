// Which submissions are refused because their jobs would write to one file.
#include "daemon/output_check.h"

#include <gtest/gtest.h>

namespace berth {
namespace {

SubmittedJob job(const char* output, std::uint32_t count = 1) {
  SubmittedJob job{{}, count, {}};
  job.description.directory = "/home/ann";
  job.description.output = output;
  return job;
}

TEST(OutputCheckTest, JobsOfASubmissionWriteToDifferentFiles) {
  OutputCheck check;
  EXPECT_TRUE(check.add(job("a")).has_value());
  EXPECT_TRUE(check.add(job("b")).has_value());
  EXPECT_FALSE(check.add(job("/home/ann/a")).has_value());
}

TEST(OutputCheckTest, NumbersAndDevicesAreNoConflict) {
  OutputCheck check;
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(check.add(job("log-%j")).has_value());
    EXPECT_TRUE(check.add(job("/dev/null")).has_value());
    EXPECT_TRUE(check.add(job("")).has_value());
  }
}

TEST(OutputCheckTest, AnArrayNeedsItsIndexOrNumber) {
  OutputCheck check;
  EXPECT_FALSE(check.add(job("log", 3)).has_value());
  EXPECT_FALSE(check.add(job("log-%%a", 3)).has_value());
  EXPECT_TRUE(check.add(job("log-%j", 3)).has_value());
  // However many they are, they are not looked at one by one.
  EXPECT_TRUE(check.add(job("log-%a", 1'000'000'000)).has_value());
}

}  // namespace
}  // namespace berth
