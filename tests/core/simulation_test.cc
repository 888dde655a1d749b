// Random workloads and faults against the scheduler, with every invariant checked after every
// input. A failure prints how to see it again. BERTH_SEED=N runs that seed alone, and
// BERTH_SIMULATE=N goes on until so many inputs have been sent.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "core/random_world.h"
#include "policy/policies.h"

namespace berth {
namespace {

using std::chrono::seconds;

std::uint64_t from_environment(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

TEST(Simulation, InvariantsHoldForEverySeed) {
  constexpr int kTurns = 300;
  const bool one = std::getenv("BERTH_SEED") != nullptr;
  const std::uint64_t wanted = one ? 0 : from_environment("BERTH_SIMULATE", 50'000);
  std::uint64_t inputs = 0;
  std::uint64_t seed = from_environment("BERTH_SEED", 0);
  do {
    RandomWorld world(seed);
    ASSERT_EQ(world.run(kTurns), "")
        << "replay: BERTH_SEED=" << seed << " build/test_core --gtest_filter=Simulation.*";
    inputs += world.inputs();
    ++seed;
  } while (inputs < wanted);
  fmt::print("{} inputs in {} worlds\n", inputs, seed);
}

// The same inputs give the same actions: no hidden clock, hash order or randomness.
TEST(Simulation, IsDeterministic) {
  const auto trace = [] {
    Scheduler scheduler(make_priority(), {});
    for (int i = 0; i < 8; ++i) {
      scheduler.add_device({.name = std::to_string(i),
                            .uuid = "",
                            .model = "",
                            .memory = gibibytes(24),
                            .locality = {}});
    }
    Random random(7);
    std::string log;
    std::vector<JobId> running;
    Time now{};
    for (int i = 0; i < 2000; ++i) {
      now += seconds(random.below(9));
      Submit command;
      command.spec.needs.gpus = static_cast<std::uint32_t>(1 + random.below(4));
      command.spec.needs.memory = gibibytes(static_cast<std::int64_t>(random.below(12)));
      command.spec.priority = static_cast<std::int32_t>(random.below(5));
      (void)scheduler.apply(command, now).has_value();
      if (!running.empty() && random.below(2) == 0) {
        const std::size_t index = random.below(running.size());
        scheduler.apply(JobExited{running[index]}, now);
        running.erase(running.begin() + static_cast<long>(index));
      }
      for (const Action& action : scheduler.step(now)) {
        if (const auto* start = std::get_if<StartJob>(&action)) {
          log += fmt::format("{}:{};", start->job.value, start->devices[0].value);
          running.push_back(start->job);
        }
      }
    }
    return log;
  };
  EXPECT_EQ(trace(), trace());
}

}  // namespace
}  // namespace berth
