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

TrainPlan small_plan(const std::string& trainer = "evolution") {
  TrainPlan plan;
  plan.trainer = trainer;
  plan.hidden = 2;
  plan.population = 6;
  plan.batch = 2;
  return plan;
}

class Trainers : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(All, Trainers, testing::Values("evolution", "ppo"));

TEST_P(Trainers, GoOnFromACheckpointToTheBitOnAnyNumberOfCores) {
  Course one = small_course(1);
  Course two = small_course(2);
  auto whole = std::move(*make_trainer(one, small_plan(GetParam())));
  auto first = std::move(*make_trainer(two, small_plan(GetParam())));
  for (int i = 0; i < 10; ++i) {
    whole->step();
  }
  for (int i = 0; i < 4; ++i) {
    first->step();
  }
  auto second = std::move(*make_trainer(two, small_plan(GetParam())));
  ASSERT_TRUE(second->load(first->save()));
  for (int i = 0; i < 6; ++i) {
    second->step();
  }
  EXPECT_EQ(second->save(), whole->save());
  EXPECT_EQ(to_text(second->best()), to_text(whole->best()));
}

TEST_P(Trainers, RefuseACheckpointThatIsDamagedOrOfAnotherTraining) {
  Course course = small_course(1);
  auto trainer = std::move(*make_trainer(course, small_plan(GetParam())));
  trainer->step();
  const std::string saved = trainer->save();
  for (std::size_t size = 0; size < saved.size(); size += 97) {
    EXPECT_FALSE((*make_trainer(course, small_plan(GetParam())))->load(saved.substr(0, size)))
        << size;
  }
  TrainPlan other = small_plan(GetParam());
  other.seed = 2;
  EXPECT_FALSE((*make_trainer(course, other))->load(saved));
}

TEST_P(Trainers, LearnSomething) {
  Course course = small_course(0);
  auto trainer = std::move(*make_trainer(course, small_plan(GetParam())));
  for (int i = 0; i < 20; ++i) {
    trainer->step();
  }
  EXPECT_LT(trainer->best_cost(), trainer->curve().front().course_cost);
}

}  // namespace
}  // namespace berth
