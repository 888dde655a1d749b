// Ranking many jobs at once: each gets the rank that it gets alone.
#include "rl/ranks.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/random.h"

namespace berth {
namespace {

Model some_model(std::size_t hidden, Random& random) {
  Model model;
  model.hidden = hidden;
  for (std::size_t i = 0; i < weights_of(hidden); ++i) {
    model.weights.push_back(static_cast<float>(random.unit() * 4 - 2));
  }
  return model;
}

RankedJob some_job(Random& random) {
  RankedJob job;
  job.submitted = Time(std::chrono::milliseconds(random.below(100'000'000)));
  job.gpus = static_cast<std::uint32_t>(random.below(400));
  job.log_length = random.unit();
  job.log_gpus = random.unit();
  job.share = random.unit();
  job.memory = random.unit() * 3e10;
  job.priority = random.unit() - 0.5;
  return job;
}

TEST(Ranks, AreToTheBitThoseOfEachJobAlone) {
  Random random(3);
  Rest rest{0.7, 0.25, 0.6, 0.2, 64, 256, 2.4e10};
  for (const std::size_t hidden : {std::size_t{0}, std::size_t{5}}) {
    const Model model = some_model(hidden, random);
    Ranks ranks(model);
    for (const std::size_t count : {1U, 2U, 77U, 128U}) {
      std::vector<double> alone;
      std::vector<double> without_room;
      for (std::size_t i = 0; i < count; ++i) {
        const RankedJob job = some_job(random);
        const Momentary moment{Time(std::chrono::hours(20)), random.below(2) == 0, random.unit(),
                               random.unit(), random.unit()};
        ranks.see(i, job, moment);
        alone.push_back(rank_by(model, look_at(job, rest, moment), rest));
        without_room.push_back(
            rank_by(model, look_at(job, rest, {moment.now, false, moment.use}), rest));
      }
      ranks.rank(count, rest);
      for (std::size_t i = 0; i < count; ++i) {
        EXPECT_EQ(ranks[i], alone[i]) << i;
      }
      EXPECT_EQ(*ranks.best(), static_cast<std::size_t>(
                                   std::min_element(alone.begin(), alone.end()) - alone.begin()));
      for (std::size_t i = 0; i < count; ++i) {
        ranks.rank_without_room(i, rest);
        EXPECT_EQ(ranks[i], without_room[i]) << i;
        ranks.drop(i);
      }
      EXPECT_FALSE(ranks.best());
    }
  }
}

TEST(Ranks, ThatAreNoNumbersGoByPlace) {
  Random random(4);
  Model model = some_model(0, random);
  model.weights[5] = std::numeric_limits<float>::infinity();
  Ranks ranks(model);
  for (std::size_t i = 0; i < 9; ++i) {
    ranks.see(i, some_job(random), {Time(std::chrono::hours(20))});
  }
  ranks.rank(9, {});
  EXPECT_TRUE(ranks.are_broken());
  EXPECT_EQ(ranks.best(), 0U);
  ranks.drop(0);
  ranks.rank_without_room(1, {});
  EXPECT_EQ(ranks.best(), 1U);
}

TEST(Logarithm, IsAsGoodAsTheLibrarys) {
  for (double x = 1e-9; x < 1e12; x *= 1.001) {
    const double exact = std::log1p(x);
    EXPECT_NEAR(log_of_one_and(x), exact, 1e-15 * std::max(exact, 1.0)) << x;
  }
  EXPECT_EQ(log_of_one_and(0.0), 0);
}

}  // namespace
}  // namespace berth
