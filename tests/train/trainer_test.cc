// Training: the same seed gives the same weights, whether or not it was interrupted.
#include "train/trainer.h"

#include <gtest/gtest.h>

#include "base/check.h"
#include "rl/model_file.h"

namespace berth {
namespace {

Course small_course(unsigned threads) {
  Source source;
  source.workload = "lublin:n=60";
  source.gpus = "32";
  source.lessons = 6;
  CourseOptions options;
  options.reward = *parse_reward("slowdown");
  options.threads = threads;
  Result<Course> course = Course::make({source}, options, 1);
  BERTH_CHECK(course.has_value());
  return std::move(*course);
}

TrainPlan small_plan() {
  TrainPlan plan;
  plan.hidden = 2;
  plan.population = 6;
  plan.batch = 2;
  return plan;
}

TEST(Trainer, GoesOnFromACheckpointToTheBitOnAnyNumberOfCores) {
  Course one = small_course(1);
  Course two = small_course(2);
  auto whole = std::move(*make_trainer(one, small_plan()));
  auto first = std::move(*make_trainer(two, small_plan()));
  for (int i = 0; i < 10; ++i) {
    whole->step();
  }
  for (int i = 0; i < 4; ++i) {
    first->step();
  }
  auto second = std::move(*make_trainer(two, small_plan()));
  ASSERT_TRUE(second->load(first->save()));
  for (int i = 0; i < 6; ++i) {
    second->step();
  }
  EXPECT_EQ(second->save(), whole->save());
  EXPECT_EQ(to_text(second->best()), to_text(whole->best()));
}

TEST(Trainer, RefusesACheckpointThatIsDamagedOrOfAnotherTraining) {
  Course course = small_course(1);
  auto trainer = std::move(*make_trainer(course, small_plan()));
  trainer->step();
  const std::string saved = trainer->save();
  for (std::size_t size = 0; size < saved.size(); size += 97) {
    EXPECT_FALSE((*make_trainer(course, small_plan()))->load(saved.substr(0, size))) << size;
  }
  TrainPlan other = small_plan();
  other.seed = 2;
  EXPECT_FALSE((*make_trainer(course, other))->load(saved));
}

TEST(Trainer, LearnsSomething) {
  Course course = small_course(0);
  auto trainer = std::move(*make_trainer(course, small_plan()));
  for (int i = 0; i < 20; ++i) {
    trainer->step();
  }
  EXPECT_LT(trainer->best_cost(), trainer->curve().front().course_cost);
}

}  // namespace
}  // namespace berth
