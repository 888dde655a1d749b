#include "daemon/waiters.h"

#include <gtest/gtest.h>

#include "daemon/recording_replies.h"

namespace berth {
namespace {

constexpr Duration kLong = std::chrono::hours(1);

/// A client that can leave.
struct Client {
  std::shared_ptr<Received> received = std::make_shared<Received>();
  std::shared_ptr<bool> left = std::make_shared<bool>(false);

  std::unique_ptr<Responder> responder() const {
    class Leaving final : public RecordingResponder {
     public:
      Leaving(std::shared_ptr<Received> received, std::shared_ptr<bool> left)
          : RecordingResponder(std::move(received)), left_(std::move(left)) {}
      bool gone() const override { return *left_; }

     private:
      std::shared_ptr<bool> left_;
    };
    return std::make_unique<Leaving>(received, left);
  }
  std::string answer() const { return received->response ? received->response->body : "none"; }
};

TEST(Waiters, AreAnsweredWhenAllHaveEnded) {
  Waiters waiters;
  const Client client;
  const auto waiter = waiters.add(client.responder());
  for (std::uint64_t id = 1; id <= 3; ++id) {
    waiter->jobs.add(JobId{id});
  }
  waiters.job_ended(JobId{2}, true);
  waiters.job_ended(JobId{1}, false);
  waiters.job_ended(JobId{9}, true);
  waiters.job_ended(JobId{3}, true);
  waiters.settle(false, kLong);
  EXPECT_EQ(client.answer(), "none");  // more may be added
  waiter->complete = true;
  waiters.settle(false, kLong);
  EXPECT_EQ(client.answer(), R"({"version":1,"failed":2})");
  EXPECT_EQ(waiters.size(), 0U);
}

TEST(Waiters, EverythingEndsWhenNothingIsLeft) {
  Waiters waiters;
  const Client client;
  const auto waiter = waiters.add(client.responder());
  waiter->everything = waiter->complete = true;
  waiters.settle(false, kLong);
  EXPECT_EQ(client.answer(), "none");
  waiters.settle(true, kLong);
  EXPECT_EQ(client.answer(), R"({"version":1,"failed":0})");
}

TEST(Waiters, WhoHasGoneIsForgotten) {
  Waiters waiters;
  const Client client;
  const Client other;
  const auto waiter = waiters.add(client.responder());
  waiter->jobs.add(JobId{1});
  waiters.add(other.responder())->jobs.add(JobId{1});
  *client.left = true;
  waiters.settle(false, kLong);
  EXPECT_EQ(waiters.size(), 1U);
  EXPECT_TRUE(waiter->gone());
  EXPECT_EQ(client.answer(), "none");
}

TEST(Waiters, HearOfEndsLittleByLittle) {
  Waiters waiters;
  const Client client;
  const auto waiter = waiters.add(client.responder());
  for (std::uint64_t id = 1; id <= 1000; ++id) {
    waiter->jobs.add(JobId{id});
  }
  waiter->complete = true;
  for (std::uint64_t id = 1; id <= 1000; ++id) {
    waiters.job_ended(JobId{id}, false);
  }
  waiters.settle(true, Duration{});
  EXPECT_TRUE(waiters.behind());
  EXPECT_EQ(client.answer(), "none");
  waiters.settle(true, kLong);
  EXPECT_FALSE(waiters.behind());
  EXPECT_EQ(client.answer(), R"({"version":1,"failed":0})");
}

TEST(Waiters, WhatEndedBeforeIsNoneOfTheirBusiness) {
  Waiters waiters;
  const Client early;
  waiters.add(early.responder())->jobs.add(JobId{5});
  waiters.job_ended(JobId{1}, true);
  const Client client;
  const auto waiter = waiters.add(client.responder());
  waiter->jobs.add(JobId{1});  // it was run again
  waiter->complete = true;
  waiters.settle(false, kLong);
  EXPECT_EQ(client.answer(), "none");
}

TEST(IdSet, IsTheSameAsASet) {
  IdSet set;
  std::uint64_t state = 7;
  std::vector<bool> there(200, false);
  for (int i = 0; i < 20'000; ++i) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    const std::uint64_t id = (state >> 33) % there.size();
    if ((state >> 60) % 2 == 0) {
      set.add(JobId{id});
      there[id] = true;
    } else {
      EXPECT_EQ(set.erase(JobId{id}), there[id]);
      there[id] = false;
    }
    std::size_t runs = 0;
    for (std::size_t k = 0; k < there.size(); ++k) {
      runs += there[k] && (k == 0 || !there[k - 1]) ? 1 : 0;
    }
    ASSERT_EQ(set.ranges(), runs);
    ASSERT_EQ(set.empty(), runs == 0);
  }
}

TEST(IdSet, AMillionInARowAreOne) {
  IdSet set;
  for (std::uint64_t id = 1; id <= 1'000'000; ++id) {
    set.add(JobId{id});
  }
  EXPECT_EQ(set.ranges(), 1U);
}

}  // namespace
}  // namespace berth
