// Submissions as JSON: what is read of them, and what is too much.
#include <gtest/gtest.h>

#include <string>

#include "core/job_bounds.h"
#include "api/messages.h"
#include "base/bounds.h"

namespace berth {
namespace {

std::string message_of(std::string_view json) {
  const Result<SubmitRequest> read = parse_submit_request(json);
  return read ? "(no error)" : read.error().message;
}

std::string with_jobs(std::string_view item, std::size_t count) {
  std::string json = R"({"jobs":[)";
  for (std::size_t i = 0; i < count; ++i) {
    json += i == 0 ? "" : ",";
    json += item;
  }
  return json + "]}";
}

TEST(Submission, DefaultsCountWhereverTheyStand) {
  const Result<SubmitRequest> read = parse_submit_request(
      R"({"jobs":[{"command":"a"},{"command":"b","project":"q"}],"tok\u0065n":"t","defaults":{"project":"p"}})");
  ASSERT_TRUE(read.has_value()) << read.error().message;
  EXPECT_EQ(read->token, "t");
  ASSERT_EQ(read->jobs.size(), 2U);
  EXPECT_EQ(read->jobs[0].description.project, "p");
  EXPECT_EQ(read->jobs[1].description.project, "q");
}

TEST(Submission, WhatIsWrongIsNamed) {
  EXPECT_EQ(message_of("[]"), "this is not a JSON object");
  EXPECT_EQ(message_of("{}"), "jobs must be a list of at least one job");
  EXPECT_EQ(message_of(R"({"jobs":{}})"), "jobs must be a list of at least one job");
  EXPECT_EQ(message_of(R"({"jobs":[],"jobs":[]})"), "jobs is there twice");
  EXPECT_EQ(message_of(R"({"jobs":[{"command":"a"}],"x":1})"), "a submission has no field 'x'");
  EXPECT_EQ(message_of(R"({"jobs":[{"command":"a"},{"command":tru}]})"), "job 2: it is not JSON");
  EXPECT_EQ(message_of(R"({"jobs":[{"command":"a"},{}]})"), "job 2: it has no command");
  EXPECT_EQ(message_of(R"({"defaults":1,"jobs":[{"command":"a"}]})"),
            "defaults: it must be an object");
}

TEST(Submission, TooManyJobs) {
  EXPECT_EQ(message_of(with_jobs(R"({"command":"a"})", kMostJobs)), "(no error)");
  EXPECT_NE(message_of(with_jobs(R"({"command":"a"})", kMostJobs + 1)).find("100000"),
            std::string::npos);
}

TEST(Submission, TooMuchInOneJob) {
  const std::string deep = std::string(40, '[') + std::string(40, ']');
  EXPECT_NE(message_of(with_jobs(R"({"command":"a","after":)" + deep + "}", 1)).find("within"),
            std::string::npos);
  std::string many = R"({"command":"a","after":["1")";
  for (std::size_t i = 0; i < kMostFollowed; ++i) {
    many += R"(,"1")";
  }
  EXPECT_EQ(message_of(with_jobs(many + "]}", 1)),
            "job 1: after names 10001 jobs: at most 10000 can be");
}

TEST(Submission, MembersOfArraysCountForDependencies) {
  EXPECT_NE(message_of(R"({"jobs":[{"command":"a","array":2000},
                           {"command":"a","array":2000,"follows":["0"]}]})")
                .find("dependencies"),
            std::string::npos);
}

TEST(Submission, EndsWithPatience) {
  const auto cancelled = std::make_shared<std::atomic<bool>>(true);
  EXPECT_FALSE(parse_submit_request(with_jobs(R"({"command":"a"})", 1000),
                                    Patience(cancelled, Patience::Clock::time_point::max()))
                   .has_value());
}

TEST(JobBounds, MemoryGrowsWithWhatIsSaid) {
  SubmittedJob job;
  const std::size_t empty = memory_of(job);
  job.description.labels["a"] = std::string(1000, 'x');
  job.description.command = std::string(1000, 'x');
  EXPECT_GT(memory_of(job), empty + 2000);
}

}  // namespace
}  // namespace berth
