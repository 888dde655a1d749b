#include "cli/jobs/submission_parts.h"

#include <gtest/gtest.h>

#include "base/bounds.h"

namespace berth {
namespace {

SubmitRequest many(std::size_t count) {
  SubmitRequest request;
  request.token = "t";
  request.defaults.directory = "/";
  SubmittedJob job{request.defaults, 1, {}};
  job.description.command = "true";
  request.jobs.assign(count, job);
  return request;
}

SubmitRequest parsed(const std::string& body) {
  Result<SubmitRequest> read = parse_submit_request(body);
  EXPECT_TRUE(read.has_value()) << (read ? "" : read.error().message);
  return read ? *std::move(read) : SubmitRequest{};
}

TEST(SubmissionParts, WhatFitsIsOne) {
  const SubmitRequest request = many(3);
  SubmissionParts parts(request);
  EXPECT_EQ(parsed(parts.next()).jobs.size(), 3U);
  EXPECT_TRUE(parts.queued({JobId{1}, 3}));
  EXPECT_TRUE(parts.done());
}

TEST(SubmissionParts, JobsOfLaterPartsNameThoseOfEarlierOnes) {
  SubmitRequest request = many(kMostJobs + 2);
  request.jobs[0].count = 2;
  request.jobs[kMostJobs].follows = {{0, Dependency::When::Any}, {2, Dependency::When::Ok}};
  request.jobs[kMostJobs + 1].follows = {{kMostJobs, Dependency::When::Ok}};
  SubmissionParts parts(request);
  const SubmitRequest first = parsed(parts.next());
  EXPECT_EQ(first.token, "t");
  EXPECT_EQ(first.jobs.size(), kMostJobs);
  EXPECT_TRUE(parts.queued({JobId{1000}, kMostJobs + 1}));
  ASSERT_FALSE(parts.done());
  const SubmitRequest second = parsed(parts.next());
  EXPECT_EQ(second.token, "t/2");
  ASSERT_EQ(second.jobs.size(), 2U);
  const std::vector<Dependency>& after = second.jobs[0].description.spec.after;
  ASSERT_EQ(after.size(), 3U);
  EXPECT_EQ(after[0].job.value, 1000U);
  EXPECT_EQ(after[1].job.value, 1001U);
  EXPECT_EQ(after[2].job.value, 1003U);
  EXPECT_EQ(second.jobs[1].follows.at(0).position, 0U);
  EXPECT_TRUE(parts.queued({JobId{900'000}, 2}));
  EXPECT_TRUE(parts.done());
}

TEST(SubmissionParts, BodiesKeepWithinTheBound) {
  SubmitRequest request = many(400);
  for (SubmittedJob& job : request.jobs) {
    job.description.command = std::string(kLongestCommand, '\t');  // two bytes each, as JSON
  }
  SubmissionParts parts(request);
  std::size_t sent = 0;
  while (!parts.done()) {
    const std::string body = parts.next();
    EXPECT_LE(body.size(), kLongestBody);
    const std::size_t count = parsed(body).jobs.size();
    sent += count;
    parts.queued({JobId{1}, count});
  }
  EXPECT_EQ(sent, 400U);
}

TEST(SubmissionParts, ATokenOfOtherJobsIsNoticed) {
  const SubmitRequest request = many(3);
  SubmissionParts parts(request);
  (void)parts.next();
  EXPECT_FALSE(parts.queued({JobId{1}, 7}));
}

}  // namespace
}  // namespace berth
