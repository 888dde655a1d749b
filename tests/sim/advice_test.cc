// What is advised, and how often its intervals hold what they should.
#include "sim/advice.h"

#include <gtest/gtest.h>

#include "base/random.h"
#include "sim/distributions.h"

namespace berth {
namespace {

/// Waits of jobs that come in rush hours: neighbours wait alike.
Waits rushes(std::uint64_t seed, std::size_t jobs) {
  Random random(seed);
  Waits waits;
  double rush = 0;
  for (std::size_t i = 0; i < jobs; ++i) {
    if (i % 50 == 0) {
      rush = 1000 * random.unit();
    }
    waits.push_back(rush + 100 * random.unit());
  }
  return waits;
}

Waits scaled(Waits waits, double factor) {
  for (double& wait : waits) {
    wait *= factor;
  }
  return waits;
}

TEST(Advice, names_the_better_policy_with_an_interval) {
  const Waits before = rushes(1, 2000);
  const Advice advice = advise({"fifo", "sjf+easy"}, {before, scaled(before, 0.8)});
  EXPECT_EQ(advice.best, "sjf+easy");
  EXPECT_EQ(advice.blocks, 20u);
  EXPECT_NEAR(advice.candidates[1].mean_change.mean, -0.2, 1e-9);
  EXPECT_LE(advice.candidates[1].mean_change.low, -0.2 + 1e-9);
  EXPECT_GE(advice.candidates[1].mean_change.high, -0.2 - 1e-9);
  EXPECT_TRUE(advice.sentence.starts_with("Use sjf+easy: it would have cut the mean wait by 20 %"))
      << advice.sentence;
}

TEST(Advice, keeps_the_policy_where_somebody_would_wait_much_longer) {
  const Waits before = rushes(1, 2000);
  Waits after = scaled(before, 0.5);
  after[777] = 9 * 3600;
  const Advice advice = advise({"priority", "sjf+easy"}, {before, after});
  EXPECT_EQ(advice.best, "priority");
  EXPECT_NE(advice.sentence.find("Keep priority: sjf+easy would have cut the mean wait by"),
            std::string::npos)
      << advice.sentence;
  EXPECT_NE(advice.sentence.find(", but the longest wait would have grown from 18m"),
            std::string::npos)
      << advice.sentence;
}

TEST(Advice, never_names_a_policy_that_preempts) {
  const Waits before = rushes(1, 2000);
  const Advice advice = advise({"easy", "srtf"}, {before, scaled(before, 0.3)});
  EXPECT_EQ(advice.best, "easy");
  EXPECT_TRUE(advice.candidates[1].preempts);
}

TEST(Advice, says_when_there_is_too_little_to_go_by) {
  const Waits few = rushes(1, 100);
  const Advice advice = advise({"priority", "easy"}, {few, scaled(few, 0.5)});
  EXPECT_FALSE(advice.enough);
  EXPECT_EQ(advice.best, "priority");
  EXPECT_EQ(advice.sentence,
            "Keep priority: 100 jobs are too few to tell policies apart; it takes 200 or more.");
  const Advice idle = advise({"priority", "easy"}, {Waits(500), Waits(500)});
  EXPECT_EQ(idle.sentence, "Keep priority: its jobs hardly waited, so there is nothing to gain.");
}

/// Two policies that are alike but for chance, in rushes: an interval that took jobs for
/// independent would miss 0 most of the time.
TEST(Advice, intervals_hold_the_truth_about_as_often_as_they_say) {
  int held = 0;
  constexpr int kTrials = 200;
  for (std::uint64_t seed = 0; seed < kTrials; ++seed) {
    const Advice advice =
        advise({"fifo", "easy"}, {rushes(2 * seed + 1, 2000), rushes(2 * seed + 2, 2000)});
    const Change& change = advice.candidates[1].mean_change;
    held += change.low <= 0 && change.high >= 0 ? 1 : 0;
  }
  EXPECT_GE(held, kTrials * 88 / 100);
  EXPECT_LE(held, kTrials);
}

TEST(Advice, half_lives_are_tried_where_several_owners_compete) {
  EXPECT_EQ(advised_policies("easy", false),
            (std::vector<std::string>{"easy", "priority", "sjf+easy", "srtf"}));
  const std::vector<std::string> several = advised_policies("priority", true);
  EXPECT_NE(std::find(several.begin(), several.end(), "fair:6h"), several.end());
  for (const std::string& name : several) {
    EXPECT_TRUE(make_policy(name)) << name;
  }
  EXPECT_FALSE(make_policy("fair:soon"));
  EXPECT_FALSE(make_policy("priority:0s"));
}

}  // namespace
}  // namespace berth
