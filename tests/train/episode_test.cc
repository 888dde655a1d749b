// Agents in the simulator: what they see, what they may do, and what it costs.
#include "train/episode.h"

#include <gtest/gtest.h>

#include "base/check.h"
#include "sim/generate.h"
#include "train/course.h"

namespace berth {
namespace {

Course one_lesson(const std::string& workload, const std::string& gpus, std::string_view reward) {
  Source source;
  source.workload = workload;
  source.gpus = gpus;
  source.lessons = 1;
  CourseOptions options;
  options.reward = *parse_reward(reward);
  Result<Course> course = Course::make({source}, options, 4);
  BERTH_CHECK(course.has_value());
  return std::move(*course);
}

/// Starts what fits first, and writes down what it has seen.
class Watcher final : public Agent {
 public:
  Choice act(const Observation& seen) override {
    ++asked;
    EXPECT_LE(seen.jobs.size(), 128U);
    EXPECT_GE(seen.cost, cost * (1 - 1e-12));
    cost = seen.cost;
    for (std::size_t i = 0; i < seen.jobs.size(); ++i) {
      EXPECT_EQ(seen.sights[i][3], seen.fits[i] ? 0 : 1);
      if (seen.fits[i]) {
        return {i, std::nullopt};
      }
    }
    ADD_FAILURE() << "asked although nothing fits";
    return {};
  }

  int asked = 0;
  double cost = 0;
};

TEST(Episode, AsksOnceForEachStartAndKnowsWhatItHasCost) {
  for (const std::string_view reward : {"slowdown", "completion", "wait", "makespan", "seed"}) {
    const Course course = one_lesson("lublin:n=300", "64", reward);
    Watcher agent;
    const Result<double> cost = course.play(course.lessons()[0], agent);
    ASSERT_TRUE(cost);
    EXPECT_EQ(agent.asked, 300);
    EXPECT_GT(agent.cost, 0);
    EXPECT_LE(agent.cost, *cost * 1.000001) << reward;
  }
}

/// Chooses jobs and devices that are not there.
class Nonsense final : public Agent {
 public:
  Choice act(const Observation&) override { return {77777, DeviceId{99}}; }
};

TEST(Episode, EndsWhateverTheAgentSays) {
  const Course course = one_lesson("mix:n=40", "2", "wait");
  Nonsense agent;
  EXPECT_TRUE(course.play(course.lessons()[0], agent));
}

}  // namespace
}  // namespace berth
