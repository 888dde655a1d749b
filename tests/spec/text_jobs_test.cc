// Texts as jobs. What the single formats look like is tested with their parsers.
#include "spec/text_jobs.h"

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
      read_line_jobs(repeated("true\n", 5) + repeated("@gpus=7 x\n", 3), defaults(), {4});
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
  const TextJobs read = read_line_jobs(repeated("@x=y z\n", 3000), defaults(), {4});
  EXPECT_EQ(read.problems.size(), TextJobs::kMostProblems);
  EXPECT_EQ(read.count, 0U);
}

TEST(TextJobs, LinesFollowEachOtherAcrossPieces) {
  const TextJobs read = read_line_jobs(
      "@name=first true\n" + repeated("true\n", 300'000) + "@after=first,any:2 last\n", defaults(),
      {});
  ASSERT_EQ(read.jobs.size(), 300'002U);
  ASSERT_EQ(read.jobs.back().follows.size(), 2U);
  EXPECT_EQ(read.jobs.back().follows[0].position, 0U);
  EXPECT_EQ(read.jobs.back().follows[1].position, 1U);
}

TEST(TextJobs, ASweepIsCountedWithoutBeingMade) {
  SweepSpec spec;
  spec.command = "t {a} {b}";
  spec.params = {*Param::parse("a", "1..3000"), *Param::parse("b", "1..3000")};
  const TextJobs read = read_sweep_jobs(spec, 1, defaults(), {2});
  EXPECT_EQ(read.count, 9'000'000U);
  EXPECT_TRUE(read.problems.empty());
  ASSERT_EQ(read.jobs.size(), 2U);
  EXPECT_EQ(read.jobs[1].description.command, "t 1 2");
  EXPECT_EQ(read.jobs[1].description.sweep, "default");
  EXPECT_EQ(read.jobs[1].description.parameters.at("b"), "2");
}

TEST(TextJobs, OptionsBeforeATemplateAreThoseOfItsJobs) {
  SweepSpec spec;
  spec.command = "@gpus={a} @name=n{a} t {a}";
  spec.params = {*Param::parse("a", "0,2")};
  JobDescription claiming = defaults();
  claiming.spec.needs.set({ClaimSource::Given, gibibytes(1)});
  const TextJobs read = read_sweep_jobs(spec, 1, claiming, {});
  ASSERT_EQ(read.jobs.size(), 2U);
  EXPECT_EQ(read.jobs[1].description.command, "t 2");
  EXPECT_EQ(read.jobs[1].description.name, "n2");
  EXPECT_EQ(read.jobs[1].description.sweep, "default");
  EXPECT_EQ(read.jobs[1].description.spec.needs.gpus, 2U);
  EXPECT_EQ(read.jobs[1].description.spec.needs.memory, gibibytes(1));
  EXPECT_EQ(read.jobs[0].description.spec.needs.memory, Bytes{}) << "it has no GPU to claim on";
  spec.params = {*Param::parse("a", "1,x")};
  const TextJobs wrong = read_sweep_jobs(spec, 1, defaults(), {});
  ASSERT_EQ(wrong.problems.size(), 1U);
  EXPECT_EQ(wrong.problems[0].message, "point 2 gpus must be a whole number, not 'x'");
}

TEST(TextJobs, ACountEnds) {
  SweepSpec spec;
  spec.command = "t {a}";
  spec.params = {*Param::parse("a", "1..1000000000")};
  spec.where = {"a < 0"};
  const TextJobs read = read_sweep_jobs(spec, 1, defaults(), {2});
  ASSERT_EQ(read.problems.size(), 1U);
  EXPECT_NE(read.problems[0].message.find("gave up"), std::string::npos);
}

TEST(TextJobs, OutputFilesOfPeasyAreNoPatterns) {
  const TextJobs read = read_peasy_jobs("a;;100%;;c;;;", defaults(), {1});
  EXPECT_EQ(read.jobs.at(0).description.output, "100%%");
}

const TextLimits kBounded{TextLimits::kAll, true, {}};

TEST(TextJobs, NoMoreThanOneSubmissionHolds) {
  for (const TextJobs& read :
       {read_line_jobs(repeated("a\n", 300'000), defaults(), kBounded),
        read_peasy_jobs(repeated("n;; ;;a;;;", 300'000), defaults(), kBounded)}) {
    EXPECT_EQ(read.jobs.size(), kMostJobs);
    ASSERT_EQ(read.problems.size(), 1U);
    EXPECT_NE(read.problems[0].message.find("100000"), std::string::npos);
  }
}

TEST(TextJobs, FieldsHaveBounds) {
  const TextJobs read =
      read_line_jobs("@name=" + repeated("x", 2000) + " a\nb\n", defaults(), kBounded);
  ASSERT_EQ(read.problems.size(), 1U);
  EXPECT_EQ(read.problems[0].line, 1U);
  EXPECT_NE(read.problems[0].message.find("name is 2000 bytes long"), std::string::npos);
}

TEST(TextJobs, DefaultsCountForEveryJob) {
  JobDescription large = defaults();
  large.labels["a"] = repeated("x", 1000);
  large.labels["b"] = repeated("x", 1000);
  const TextJobs read = read_line_jobs(repeated("a\n", 90'000), large, kBounded);
  ASSERT_EQ(read.problems.size(), 1U);
  EXPECT_NE(read.problems[0].message.find("128 MiB"), std::string::npos);
}

TEST(TextJobs, ASweepThatCannotBeQueuedIsNotMade) {
  SweepSpec spec;
  spec.command = "t {a} {b}";
  spec.params = {*Param::parse("a", "1..1000000"), *Param::parse("b", "1..1000000")};
  const TextJobs read = read_sweep_jobs(spec, 1, defaults(), kBounded);
  EXPECT_LE(read.jobs.size(), 100U);
  ASSERT_EQ(read.problems.size(), 1U);
  EXPECT_NE(read.problems[0].message.find("1000000000000 points"), std::string::npos);
  spec.n_samples = 10;
  EXPECT_EQ(read_sweep_jobs(spec, 1, defaults(), kBounded).jobs.size(), 10U);
}

TEST(TextJobs, ALongConditionEnds) {
  SweepSpec spec;
  spec.command = "t {a}";
  spec.params = {*Param::parse("a", "1..1000000000")};
  spec.where = {"a < 0" + repeated(" or a < 0", 5000)};
  const TextJobs read = read_sweep_jobs(spec, 1, defaults(), kBounded);
  ASSERT_EQ(read.problems.size(), 1U);
  EXPECT_NE(read.problems[0].message.find("gave up"), std::string::npos);
}

TEST(TextJobs, NothingGoesOnWithoutPatience) {
  const auto cancelled = std::make_shared<std::atomic<bool>>(true);
  const TextLimits impatient{TextLimits::kAll, true,
                             Patience(cancelled, Patience::Clock::time_point::max())};
  EXPECT_EQ(read_line_jobs(repeated("a\n", 1000), defaults(), impatient).count, 0U);
  EXPECT_LT(read_peasy_jobs(repeated("n;; ;;a;;;", 90'000), defaults(), impatient).count, 2000U);
  SweepSpec spec;
  spec.command = "t {a}";
  spec.params = {*Param::parse("a", "1..90000")};
  EXPECT_LT(read_sweep_jobs(spec, 1, defaults(), impatient).jobs.size(), 20'000U);
}

}  // namespace
}  // namespace berth
