#include "core/claim_book.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <limits>

#include "core/learner.h"
#include "policy/policies.h"

namespace berth {
namespace {

Recipe train(int batch, double lr, int seed) {
  return recipe_of("vision", "python train.py --batch " + std::to_string(batch) + " --lr " +
                                 std::to_string(lr) + " --seed " + std::to_string(seed));
}

TEST(RecipeTest, NumbersAreMaskedAndKept) {
  const Recipe recipe = recipe_of("p", "train.py --lr 1e-3 --net resnet50 --gpus=2");
  EXPECT_EQ(recipe.key, "p\ntrain.py --lr # --net resnet50 --gpus=#");
  ASSERT_EQ(recipe.numbers.size(), 2U);
  EXPECT_DOUBLE_EQ(recipe.numbers[0], 1e-3);
  EXPECT_DOUBLE_EQ(recipe.numbers[1], 2);
}

TEST(RecipeTest, OneKeyHasEquallyManyNumbers) {
  EXPECT_NE(recipe_of("", "sort #").key, recipe_of("", "sort 1").key);
  EXPECT_NE(recipe_of("", "sort ##").key, recipe_of("", "sort 1#").key);
  EXPECT_EQ(recipe_of("", "sort #1").numbers.size(), recipe_of("", "sort 1#").numbers.size());
}

TEST(ClaimBookTest, KnowsTheSameJobAfterOneRun) {
  ClaimBook book;
  EXPECT_FALSE(book.claim(train(64, 0.1, 1)).has_value());
  EXPECT_TRUE(book.learn(train(64, 0.1, 1), gibibytes(4)));
  EXPECT_GE(*book.claim(train(64, 0.1, 1)), gibibytes(4));
  EXPECT_LE(*book.claim(train(64, 0.1, 1)), gibibytes(5));
  // Which of the numbers matter nobody knows yet.
  EXPECT_FALSE(book.claim(train(64, 0.1, 2)).has_value());
}

TEST(ClaimBookTest, FindsOutWhichNumbersMatter) {
  ClaimBook book;
  book.learn(train(64, 0.1, 1), gibibytes(4));
  EXPECT_TRUE(book.learn(train(64, 0.2, 2), gibibytes(4) + mebibytes(50)));
  EXPECT_TRUE(book.claim(train(64, 0.3, 3)).has_value());
  EXPECT_FALSE(book.claim(train(64, 0.3, 99'999)).has_value()) << "so far away, it may matter";
  EXPECT_FALSE(book.claim(train(512, 0.1, 1)).has_value()) << "a batch size that nobody has tried";
  book.learn(train(512, 0.1, 3), gibibytes(18));
  ASSERT_TRUE(book.claim(train(64, 0.15, 2)).has_value());
  EXPECT_LE(*book.claim(train(64, 0.15, 2)), gibibytes(6));
  book.learn(train(512, 0.2, 4), gibibytes(18));
  ASSERT_TRUE(book.claim(train(512, 0.15, 5)).has_value());
  EXPECT_GE(*book.claim(train(512, 0.15, 5)), gibibytes(18));
}

TEST(ClaimBookTest, ANumberMayBeLikeAWord) {
  ClaimBook book;
  const auto job = [](int precision, int seed) {
    return recipe_of("", fmt::format("train.py --bits {} --seed {}", precision, seed));
  };
  for (int seed = 1; seed <= 4; ++seed) {  // memory neither grows nor falls with the bits
    book.learn(job(8, seed), gibibytes(9));
    book.learn(job(16, seed), gibibytes(3));
    book.learn(job(32, seed), gibibytes(7));
  }
  EXPECT_LE(*book.claim(job(16, 5)), gibibytes(4));
  EXPECT_GE(*book.claim(job(8, 5)), gibibytes(9));
  EXPECT_FALSE(book.claim(job(24, 5)).has_value());
}

TEST(ClaimBookTest, SaysHowManyMoreRunsItTakes) {
  ClaimBook book;
  EXPECT_EQ(book.outlook(train(64, 0.1, 1)).more_runs, 1);
  book.learn(train(64, 0.1, 1), gibibytes(4));
  book.learn(train(64, 0.1, 2), gibibytes(8));
  const PeakOutlook outlook = book.outlook(train(64, 0.1, 3));
  EXPECT_FALSE(outlook.claim.has_value());
  EXPECT_GT(outlook.more_runs, 1);
}

TEST(ClaimBookTest, NumbersThatMakeNoSenseAreNotLearned) {
  ClaimBook book;
  book.learn({"key", {1}}, gibibytes(4));
  EXPECT_FALSE(book.learn({"key", {1, 2}}, gibibytes(4)));
  EXPECT_FALSE(book.learn({"key", {std::numeric_limits<double>::infinity()}}, gibibytes(4)));
  EXPECT_FALSE(book.claim({"key", {1, 2}}).has_value());
}

TEST(ClaimBookTest, PeaksThatAreAlikeByChanceProveNothing) {
  ClaimBook book;
  // What it uses is what its first number says; the others are noise.
  const auto job = [](int mem, int i) {
    return recipe_of("", "simjob --mem " + std::to_string(mem) + " --seed " + std::to_string(i));
  };
  for (int i = 0; i < 200; ++i) {
    const int mem = 2000 + i * 7919 % 18000;
    book.learn(job(mem, i), mebibytes(mem));
  }
  for (int i = 0; i < 200; ++i) {
    const int mem = 2000 + i * 7919 % 18000;
    const std::optional<Bytes> claim = book.claim(job(mem, i));
    ASSERT_TRUE(claim.has_value()) << i;
    EXPECT_GE(*claim, mebibytes(mem));
    EXPECT_LE(*claim, mebibytes(mem + mem / 8 + 64));
  }
  EXPECT_FALSE(book.claim(job(7, 7)).has_value());
}

TEST(ClaimBookTest, SaysWhenNothingChanges) {
  ClaimBook book;
  EXPECT_TRUE(book.learn(train(64, 0.1, 1), gibibytes(4)));
  EXPECT_FALSE(book.learn(train(64, 0.1, 1), gibibytes(4)));
  EXPECT_FALSE(book.learn(train(64, 0.1, 1), gibibytes(4) - mebibytes(50)));
  EXPECT_TRUE(book.learn(train(64, 0.1, 1), gibibytes(6)));
}

TEST(ClaimBookTest, WhatRanOutOfMemoryCountsUntilOneEndsWell) {
  ClaimBook book;
  book.learn(train(64, 0.1, 1), gibibytes(4));
  book.learn_at_least(train(64, 0.1, 1), gibibytes(9));
  EXPECT_GE(*book.claim(train(64, 0.1, 1)), gibibytes(9));
  book.learn(train(64, 0.1, 1), gibibytes(5));
  EXPECT_LE(*book.claim(train(64, 0.1, 1)), gibibytes(7));
}

TEST(ClaimBookTest, OldPeaksAreForgotten) {
  ClaimBook book;
  book.learn(train(64, 0.1, 1), gibibytes(20));
  for (int i = 0; i < 30; ++i) {
    book.learn(train(64, 0.1, 1), gibibytes(4));
  }
  EXPECT_LE(*book.claim(train(64, 0.1, 1)), gibibytes(5));
}

TEST(ClaimBookTest, AHigherRiskClaimsLess) {
  Bytes before = gibibytes(1000);
  for (const double risk : {0.0001, 0.005, 0.3}) {
    ClaimBook book(risk);
    for (int i = 0; i < 12; ++i) {
      book.learn(train(64, 0.1, 1), gibibytes(8) + mebibytes(600 * (i % 7)));
    }
    const Bytes claim = *book.claim(train(64, 0.1, 1));
    EXPECT_LT(claim, before) << risk;
    EXPECT_GE(claim, gibibytes(8));
    before = claim;
  }
}

TEST(LearnerTest, ChangesTheClaimsOfThoseThatWaitSomeAtATime) {
  Scheduler scheduler(make_priority(), {});
  DeviceSpec device;
  device.memory = gibibytes(24);
  scheduler.add_device(device);
  Learner learner;
  for (int seed = 1; seed <= 10; ++seed) {
    const Result<JobId> job = scheduler.apply(Submit{}, Time{});
    ASSERT_TRUE(job.has_value());
    learner.job_waits(*job, train(64, 0.1, seed), scheduler);
  }
  (void)scheduler.step(Time{});  // the first starts, alone
  EXPECT_FALSE(learner.behind());
  learner.learn(train(64, 0.1, 1), gibibytes(4));
  EXPECT_TRUE(learner.reclaims(scheduler, 100).empty());
  learner.learn(train(64, 0.1, 77), gibibytes(4));  // the seed does not matter
  std::size_t changed = 0;
  while (learner.behind()) {
    const std::vector<Reclaim> some = learner.reclaims(scheduler, 4);
    EXPECT_LE(some.size(), 4U);
    for (const Reclaim& change : some) {
      EXPECT_GE(change.memory, gibibytes(4));
      scheduler.apply(change);
    }
    changed += some.size();
  }
  EXPECT_EQ(changed, 9U);
  for (int seed = 70; seed < 77; ++seed) {  // the more is known, the less is claimed
    learner.learn(train(64, 0.1, seed), gibibytes(4));
    for (const Reclaim& change : learner.reclaims(scheduler, 100)) {
      scheduler.apply(change);
    }
  }
  learner.learn(train(64, 0.1, 78), gibibytes(4));
  EXPECT_TRUE(learner.reclaims(scheduler, 100).empty()) << "they claim that already";
}

TEST(LearnerTest, LooksOnlyAtJobsThatStillWait) {
  Scheduler scheduler(make_priority(), {});
  DeviceSpec device;
  device.memory = gibibytes(24);
  scheduler.add_device(device);
  Learner learner;
  JobId last{};
  for (int i = 0; i < 30'000; ++i) {
    last = *scheduler.apply(Submit{}, Time{});
    learner.job_waits(last, train(64, 0.1, i), scheduler);
    if (i + 1 < 30'000) {  // most are gone before anything is known
      ASSERT_TRUE(scheduler.apply(Cancel{last}, Time{}).has_value());
      (void)scheduler.step(Time{});
      scheduler.forget(last);
    }
  }
  scheduler.apply(Pause{});
  learner.learn(train(64, 0.1, 20'001), gibibytes(4));
  learner.learn(train(64, 0.1, 40'002), gibibytes(4));
  // Those that left were dropped long ago: one call comes to the end of what is kept.
  std::vector<Reclaim> changes = learner.reclaims(scheduler, 12'000);
  EXPECT_FALSE(learner.behind());
  ASSERT_EQ(changes.size(), 1U);
  EXPECT_EQ(changes[0].job, last);
}

TEST(LearnerTest, ReconsidersWhatWaitingJobsWereGivenBefore) {
  Scheduler scheduler(make_priority(), {});
  DeviceSpec device;
  device.memory = gibibytes(24);
  scheduler.add_device(device);
  scheduler.apply(Pause{});
  Learner learner;
  learner.learn(train(64, 0.1, 1), gibibytes(4));
  Submit known;
  known.spec.needs.memory = gibibytes(20);  // as an earlier process would have it
  Submit unknown = known;
  learner.job_waits(*scheduler.apply(known, Time{}), train(64, 0.1, 1), scheduler);
  learner.job_waits(*scheduler.apply(unknown, Time{}), train(512, 0.2, 2), scheduler);
  EXPECT_FALSE(learner.behind());
  learner.reconsider();
  const std::vector<Reclaim> changes = learner.reclaims(scheduler, 10);
  ASSERT_EQ(changes.size(), 2U);
  EXPECT_LE(changes[0].memory, gibibytes(5));
  EXPECT_EQ(changes[1].memory, Bytes{}) << "not known at this risk: alone";
  EXPECT_FALSE(learner.behind());
}

}  // namespace
}  // namespace berth
