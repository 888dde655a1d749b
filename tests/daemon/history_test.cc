// What past jobs teach: medians of the last runs.
#include "daemon/history.h"

#include <gtest/gtest.h>

namespace berth {
namespace {

Duration minutes(int count) { return std::chrono::minutes(count); }

struct HistoryCase {
  const char* name;
  std::vector<int> runs;
  int expected;  // -1: unknown
};

class Histories : public ::testing::TestWithParam<HistoryCase> {};

TEST_P(Histories, ExpectTheMedianOfTheLastNine) {
  History history;
  for (const int run : GetParam().runs) {
    history.learn("r", minutes(run));
  }
  EXPECT_EQ(history.expected("r"),
            GetParam().expected < 0 ? kForever : minutes(GetParam().expected));
  EXPECT_EQ(history.expected("another"), kForever);
}

INSTANTIATE_TEST_SUITE_P(
    Daemon, Histories,
    ::testing::Values(HistoryCase{"none", {}, -1}, HistoryCase{"one", {5}, 5},
                      HistoryCase{"the_longer_of_two", {5, 9}, 9},
                      HistoryCase{"middle_of_three", {9, 1, 5}, 5},
                      HistoryCase{"an_outlier_counts_little", {5, 5, 600, 5, 5}, 5},
                      HistoryCase{"zero_is_a_length", {0, 0, 1}, 0},
                      HistoryCase{"old_ones_fade", {1, 1, 1, 1, 1, 1, 1, 1, 1, 7, 7, 7, 7, 7}, 7},
                      HistoryCase{"not_too_fast", {1, 1, 1, 1, 1, 1, 1, 1, 1, 7, 7, 7, 7}, 1}),
    [](const auto& row) { return row.param.name; });

TEST(History, WhatIsTypicalComesFromAllRecipes) {
  History history;
  EXPECT_EQ(history.typical(), kForever);
  history.learn("a", minutes(1));
  history.learn("b", minutes(2));
  history.learn("c", minutes(30));
  EXPECT_EQ(history.typical(), minutes(2));
  for (int i = 0; i < 101; ++i) {
    history.learn("a", minutes(7));
  }
  EXPECT_EQ(history.typical(), minutes(7));
}

TEST(History, CommandsThatNeverRepeatAreNotRememberedWithoutEnd) {
  History history;
  history.learn("first", minutes(1));
  for (int i = 0; i < 20'000; ++i) {
    history.learn(std::to_string(i), minutes(2));
  }
  EXPECT_EQ(history.expected("first"), kForever);
  EXPECT_EQ(history.expected("19999"), minutes(2));
  EXPECT_EQ(history.typical(), minutes(2));
}

}  // namespace
}  // namespace berth
