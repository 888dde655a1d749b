// Texts as jobs. What the single formats look like is tested with their parsers.
#include "texts/text_jobs.h"

#include <gtest/gtest.h>

namespace berth {
namespace {

std::string repeated(std::string_view text, int count) {
  std::string result;
  for (int i = 0; i < count; ++i) {
    result += text;
  }
  return result;
}

JobDescription defaults() {
  JobDescription job;
  job.name = "default";
  job.project = "p";
  job.environment = {"A=1"};
  return job;
}

TEST(TextJobs, KeepsTheFirstAndCountsTheOthers) {
  const TextJobs read =
      read_line_jobs(repeated("true\n", 5) + repeated("@gpus=7 x\n", 3), defaults(), 4);
  EXPECT_EQ(read.count, 8U);
  ASSERT_EQ(read.jobs.size(), 4U);
  EXPECT_EQ(read.lines, (std::vector<std::size_t>{1, 2, 3, 4}));
  ASSERT_EQ(read.other_needs.size(), 2U);
  EXPECT_EQ(read.other_needs.begin()->second, 5U);
  EXPECT_EQ(read.other_needs.rbegin()->second, 6U);
  EXPECT_EQ(read.jobs[0].description.name, "default");
  EXPECT_EQ(read.jobs[0].description.project, "p");
  EXPECT_TRUE(read.jobs[0].description.environment.empty()) << "it is that of the defaults";
}

TEST(TextJobs, ProblemsAreBounded) {
  const TextJobs read = read_line_jobs(repeated("@x=y z\n", 3000), defaults(), 4);
  EXPECT_EQ(read.problems.size(), TextJobs::kMostProblems);
  EXPECT_EQ(read.count, 0U);
}

TEST(TextJobs, LinesFollowEachOtherAcrossPieces) {
  const TextJobs read = read_line_jobs(
      "@name=first true\n" + repeated("true\n", 300'000) + "@after=first,any:2 last\n", defaults(),
      400'000);
  ASSERT_EQ(read.jobs.size(), 300'002U);
  ASSERT_EQ(read.jobs.back().follows.size(), 2U);
  EXPECT_EQ(read.jobs.back().follows[0].position, 0U);
  EXPECT_EQ(read.jobs.back().follows[1].position, 1U);
}

TEST(TextJobs, ASweepIsCountedWithoutBeingMade) {
  SweepSpec spec;
  spec.command = "t {a} {b}";
  spec.params = {*Param::parse("a", "1..3000"), *Param::parse("b", "1..3000")};
  const TextJobs read = read_sweep_jobs(spec, 1, defaults(), 2);
  EXPECT_EQ(read.count, 9'000'000U);
  EXPECT_TRUE(read.problems.empty());
  ASSERT_EQ(read.jobs.size(), 2U);
  EXPECT_EQ(read.jobs[1].description.command, "t 1 2");
  EXPECT_EQ(read.jobs[1].description.sweep, "default");
  EXPECT_EQ(read.jobs[1].description.parameters.at("b"), "2");
}

TEST(TextJobs, ACountEnds) {
  SweepSpec spec;
  spec.command = "t {a}";
  spec.params = {*Param::parse("a", "1..1000000000")};
  spec.where = {"a < 0"};
  const TextJobs read = read_sweep_jobs(spec, 1, defaults(), 2);
  ASSERT_EQ(read.problems.size(), 1U);
  EXPECT_NE(read.problems[0].message.find("gave up"), std::string::npos);
}

TEST(TextJobs, OutputFilesOfPeasyAreNoPatterns) {
  const TextJobs read = read_peasy_jobs("a;;100%;;c;;;", defaults(), 1);
  EXPECT_EQ(read.jobs.at(0).description.output, "100%%");
}

}  // namespace
}  // namespace berth
