// How long jobs are expected to run, and how often they do.
#include "core/length_book.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "base/random.h"
#include "core/length_learner.h"
#include "policy/policies.h"

namespace berth {
namespace {

using std::chrono::seconds;

Recipe train(int epochs, int seed) {
  return recipe_of("vision", fmt::format("train.py --epochs {} --seed {}", epochs, seed));
}

Duration from_seconds(double value) {
  return std::chrono::duration_cast<Duration>(std::chrono::duration<double>(value));
}

/// About normal: the sum of twelve.
double normal(Random& random) {
  double sum = -6;
  for (int i = 0; i < 12; ++i) {
    sum += static_cast<double>(random.below(1'000'000)) / 1e6;
  }
  return sum;
}

TEST(LengthBook, FallsBackToTheProjectThenTheUser) {
  LengthBook book;
  const Recipe known = recipe_of("vision", "train.py");
  EXPECT_FALSE(book.outlook(known, 7).known());
  (void)book.learn(known, 7, seconds(100));
  EXPECT_EQ(book.outlook(known, 8).median, seconds(100));
  EXPECT_EQ(book.outlook(recipe_of("vision", "other.py"), 8).median, seconds(100));
  EXPECT_EQ(book.outlook(recipe_of("speech", "other.py"), 7).median, seconds(100));
  EXPECT_FALSE(book.outlook(recipe_of("speech", "other.py"), 8).known());
  // No project is not a project.
  (void)book.learn(recipe_of("", "ls"), 9, seconds(1));
  EXPECT_FALSE(book.outlook(recipe_of("", "cat"), 8).known());
}

TEST(LengthBook, AnOutlierCountsLittleAndOldRunsFade) {
  LengthBook book;
  const Recipe recipe = recipe_of("", "train.py");
  for (const int length : {50, 50, 6000, 50, 50}) {
    (void)book.learn(recipe, 1, seconds(length));
  }
  EXPECT_EQ(book.outlook(recipe, 1).median, seconds(50));
  for (int i = 0; i < 21; ++i) {
    (void)book.learn(recipe, 1, seconds(90));
  }
  EXPECT_EQ(book.outlook(recipe, 1).median, seconds(90));
}

TEST(LengthBook, TakesTheNumbersThatMatterIntoAccount) {
  LengthBook book;
  Random random(1);
  for (int i = 0; i < 30; ++i) {
    const int epochs = 1 + static_cast<int>(random.below(50));
    (void)book.learn(train(epochs, i), 1,
                     from_seconds((20 + 60 * epochs) * std::exp(0.05 * normal(random))));
  }
  for (const int epochs : {2, 10, 25, 45}) {
    const LengthOutlook outlook = book.outlook(train(epochs, 999), 1);
    const double truth = 20 + 60 * epochs;
    EXPECT_NEAR(to_seconds(outlook.median), truth, 0.15 * truth) << epochs;
    EXPECT_TRUE(outlook.holds(from_seconds(truth))) << epochs;
    EXPECT_LT(to_seconds(outlook.upper) / to_seconds(outlook.lower), 1.6) << epochs;
  }
}

/// The share of lengths within their intervals, each asked for before it is told.
double coverage(double spread, double drift, std::uint64_t seed) {
  LengthBook book;
  Random random(seed);
  const Recipe recipe = recipe_of("", "train.py");
  int within = 0;
  constexpr int kRuns = 2000;
  constexpr int kFirst = 30;
  for (int i = 0; i < kFirst + kRuns; ++i) {
    const Duration length = from_seconds(600 * std::exp(spread * normal(random) + drift * i));
    within += i >= kFirst && book.outlook(recipe, 1).holds(length) ? 1 : 0;
    (void)book.learn(recipe, 1, length);
  }
  return static_cast<double>(within) / kRuns;
}

TEST(LengthBook, NineOfTenLieWithinTheirIntervals) {
  for (const double spread : {0.02, 0.3, 2.0}) {
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
      EXPECT_NEAR(coverage(spread, 0, seed), 0.9, 0.02) << spread;
    }
  }
}

TEST(LengthBook, IntervalsKeepTheirPromiseWhileWorkGetsLonger) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    EXPECT_NEAR(coverage(0.3, 0.005, seed), 0.9, 0.03);
  }
}

TEST(LengthBook, CommandsThatNeverRepeatAreNotRememberedWithoutEnd) {
  KeptLately<int> kept(100);
  for (int i = 0; i < 1000; ++i) {
    kept.use(std::to_string(i)) = i;
    kept.use("often") = i;
  }
  EXPECT_EQ(kept.size(), 100U);
  EXPECT_EQ(*kept.find("often"), 999);
  EXPECT_EQ(*kept.find("950"), 950);
  EXPECT_EQ(kept.find("1"), nullptr);
}

class Waiting : public testing::Test {
 protected:
  Waiting() { scheduler_.add_device({}); }

  JobId wait(const Recipe& recipe, std::uint32_t user = 1) {
    JobSpec spec;
    spec.expected = learner_.expected(recipe, user);
    const JobId id = *scheduler_.apply(Submit{spec}, Time{});
    learner_.waiters().add(id, recipe, user, scheduler_);
    return id;
  }
  std::size_t pass_on(std::size_t most) {
    const std::vector<Reestimate> changes = learner_.changes(scheduler_, most);
    for (const Reestimate& change : changes) {
      scheduler_.apply(change);
    }
    return changes.size();
  }
  Duration expected(JobId job) const { return scheduler_.find(job)->expected; }

  Scheduler scheduler_{std::move(*make_policy("priority", {})), {}};
  LengthLearner learner_;
};

TEST_F(Waiting, LearnInPieces) {
  const Recipe recipe = recipe_of("p", "train.py");
  std::vector<JobId> jobs;
  for (int i = 0; i < 10; ++i) {
    jobs.push_back(wait(recipe));
  }
  EXPECT_EQ(expected(jobs[0]), kForever);
  learner_.learn(recipe, 1, seconds(100));
  EXPECT_LE(pass_on(4), 4U);
  while (learner_.behind()) {
    pass_on(4);
  }
  for (const JobId job : jobs) {
    EXPECT_EQ(expected(job), seconds(100));
  }
}

TEST_F(Waiting, AreNotToldOfSmallChanges) {
  const Recipe recipe = recipe_of("p", "train.py");
  const JobId job = wait(recipe);
  learner_.learn(recipe, 1, seconds(100));
  EXPECT_EQ(pass_on(100), 1U);
  for (const int length : {101, 105, 99, 104, 103, 95}) {
    learner_.learn(recipe, 1, seconds(length));
    EXPECT_EQ(pass_on(100), 0U);
  }
  EXPECT_EQ(expected(job), seconds(100));
}

TEST_F(Waiting, LearnFromOthersOfTheirUserUntilTheirRecipeRuns) {
  const JobId job = wait(recipe_of("", "train.py"));
  const JobId stranger = wait(recipe_of("", "train.py"), 2);
  learner_.learn(recipe_of("", "other.py"), 1, seconds(100));
  pass_on(100);
  EXPECT_EQ(expected(job), seconds(100));
  EXPECT_EQ(expected(stranger), kForever);
  learner_.learn(recipe_of("", "train.py"), 1, seconds(900));
  learner_.learn(recipe_of("", "other.py"), 1, seconds(10));
  learner_.learn(recipe_of("", "other.py"), 1, seconds(10));
  pass_on(100);
  EXPECT_EQ(expected(job), seconds(900));
  EXPECT_EQ(expected(stranger), seconds(900));
}

TEST_F(Waiting, AreLeftAloneOnceTheirUserGivesALength) {
  const Recipe recipe = recipe_of("", "train.py");
  const JobId job = wait(recipe);
  learner_.waiters().move(job, nullptr, 1, scheduler_);
  learner_.learn(recipe, 1, seconds(100));
  EXPECT_EQ(pass_on(100), 0U);
  // And then takes it back.
  learner_.waiters().move(job, &recipe, 1, scheduler_);
  learner_.learn(recipe, 1, seconds(500));
  learner_.learn(recipe, 1, seconds(500));
  EXPECT_EQ(pass_on(100), 1U);
}

}  // namespace
}  // namespace berth
