// Budgets: nobody has all, and the privileged always find room.
#include "api/budgets.h"

#include <gtest/gtest.h>

#include <deque>

namespace berth {
namespace {

constexpr uid_t kRoot = 0;
constexpr uid_t kOwner = 1000;
constexpr uid_t kAnn = 1001;
constexpr uid_t kBob = 1002;
constexpr uid_t kStranger = Budgets::kStrangers;

Budgets::Limits small() {
  Budgets::Limits limits;
  limits[Good::Connections] = {10, 7, 4, 2};
  limits[Good::AnswerBytes] = {8 << 20, 4 << 20, 2 << 20, 1 << 20};
  return limits;
}

class BudgetsTest : public testing::Test {
 protected:
  void connect(uid_t who, int times) {
    for (int i = 0; i < times; ++i) {
      accounts_.emplace_back(budgets_, who).set(Good::Connections, 1);
    }
  }
  bool lets_in(uid_t who) const { return budgets_.has_room(who, Good::Connections); }

  Budgets budgets_{small(), {kRoot, kOwner}};
  std::deque<Budgets::Account> accounts_;
};

TEST_F(BudgetsTest, AUserHasALimit) {
  connect(kAnn, 3);
  EXPECT_TRUE(lets_in(kAnn));
  EXPECT_FALSE(budgets_.is_full(kAnn, Good::Connections));
  connect(kAnn, 1);
  EXPECT_FALSE(lets_in(kAnn));
  EXPECT_TRUE(budgets_.is_full(kAnn, Good::Connections));
  EXPECT_TRUE(lets_in(kBob));
}

TEST_F(BudgetsTest, StrangersAreOneSmallUser) {
  connect(kStranger, 2);
  EXPECT_FALSE(lets_in(kStranger));
  EXPECT_TRUE(lets_in(kAnn));
}

TEST_F(BudgetsTest, AllOthersTogetherLeaveRoomForThePrivileged) {
  connect(kAnn, 4);
  connect(kBob, 3);
  EXPECT_FALSE(lets_in(kBob));  // has less than its own limit
  EXPECT_FALSE(budgets_.is_full(kBob, Good::Connections));
  EXPECT_FALSE(lets_in(kStranger));
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(lets_in(kRoot));
    EXPECT_TRUE(lets_in(kOwner));
    connect(i % 2 == 0 ? kRoot : kOwner, 1);
  }
  EXPECT_FALSE(lets_in(kRoot));
  EXPECT_EQ(budgets_.used_by_all(Good::Connections), 10U);
  EXPECT_EQ(budgets_.used_by_others(Good::Connections), 7U);
}

TEST_F(BudgetsTest, WhatIsGivenBackCanBeHadAgain) {
  connect(kAnn, 4);
  accounts_.pop_back();
  EXPECT_TRUE(lets_in(kAnn));
  accounts_.clear();
  EXPECT_TRUE(budgets_.users().empty());
  EXPECT_EQ(budgets_.used_by_all(Good::Connections), 0U);
}

TEST_F(BudgetsTest, AStrangerWhoShowsATokenIsAUserWithAllThatItHas) {
  connect(kStranger, 2);
  accounts_.front().set(Good::RequestBytes, 100);
  accounts_.front().move_to(kAnn);
  EXPECT_TRUE(lets_in(kStranger));
  EXPECT_EQ(budgets_.used(kAnn, Good::Connections), 1U);
  EXPECT_EQ(budgets_.used(kAnn, Good::RequestBytes), 100U);
  EXPECT_EQ(budgets_.used(kStranger, Good::RequestBytes), 0U);
  accounts_.front().move_to(kRoot);
  EXPECT_EQ(budgets_.used_by_others(Good::RequestBytes), 0U);
}

TEST_F(BudgetsTest, BytesGrowAndShrink) {
  connect(kAnn, 1);
  Budgets::Account& account = accounts_.front();
  EXPECT_TRUE(account.fits(Good::AnswerBytes, 2 << 20));
  EXPECT_FALSE(account.fits(Good::AnswerBytes, (2 << 20) + 1));
  account.set(Good::AnswerBytes, 3 << 20);  // it happened
  EXPECT_FALSE(budgets_.has_room(kAnn, Good::AnswerBytes, 1));
  EXPECT_TRUE(account.fits(Good::AnswerBytes, 1 << 20));  // less than before always fits
  account.set(Good::AnswerBytes, 1 << 20);
  EXPECT_TRUE(budgets_.has_room(kAnn, Good::AnswerBytes, 1 << 20));
  EXPECT_FALSE(budgets_.has_room(kAnn, Good::AnswerBytes, static_cast<std::size_t>(-1)));
}

TEST_F(BudgetsTest, FewStreamsHoldMuchAndManyLittle) {
  connect(kAnn, 1);
  accounts_.front().set(Good::Streams, 1);
  EXPECT_EQ(budgets_.stream_share(kAnn), std::size_t{1} << 20);
  accounts_.front().set(Good::Streams, 4);
  EXPECT_EQ(budgets_.stream_share(kAnn), std::size_t{1} << 18);
  EXPECT_EQ(budgets_.stream_share(kRoot), std::size_t{1} << 20);  // by all that there are
  accounts_.front().set(Good::Streams, 4000);
  EXPECT_EQ(budgets_.stream_share(kAnn), std::size_t{128} * 1024);
}

TEST(BudgetLimits, FewerConnectionsAreFewerForEach) {
  const Budgets::Limits limits = Budgets::Limits().with_connections(400);
  const Budgets::Limit& connections = limits[Good::Connections];
  EXPECT_EQ(connections.all, 400U);
  EXPECT_EQ(connections.others, 300U);
  EXPECT_EQ(connections.user, 100U);
  EXPECT_EQ(connections.strangers, 50U);
  EXPECT_EQ(Budgets::Limits().with_connections(5000)[Good::Connections].all, 2000U);
}

}  // namespace
}  // namespace berth
