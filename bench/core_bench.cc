// What one decision costs with a thousand to a million jobs waiting: it must not depend on their
// number.
#include <benchmark/benchmark.h>

#include <chrono>
#include <vector>

#include "base/random.h"
#include "core/scheduler.h"
#include "policy/policies.h"

namespace berth {
namespace {

std::unique_ptr<Policy> policy(std::int64_t kind) {
  return kind == 0 ? make_fifo() : kind == 1 ? make_priority() : std::move(*make_policy("rl"));
}

Submit job(Random& random, std::int64_t kinds) {
  Submit command;
  // Kinds of needs: what differs between the jobs of a real queue is mostly their command.
  const std::uint64_t kind = random.below(static_cast<std::uint64_t>(kinds));
  command.spec.needs.gpus = static_cast<std::uint32_t>(1 + kind % 4);
  command.spec.needs.memory = gibibytes(static_cast<std::int64_t>(kind / 4 % 8));
  command.spec.priority = static_cast<std::int32_t>(random.below(5));
  return command;
}

/// A full queue on 8 busy devices; one iteration ends a job, decides, starts what fits and submits
/// as many again.
void steady_state(benchmark::State& state) {
  Scheduler scheduler(policy(state.range(1)), {});
  for (int i = 0; i < 8; ++i) {
    scheduler.add_device({std::to_string(i), "", "", gibibytes(24), {}});
  }
  Random random(1);
  Time now{};
  for (std::int64_t i = 0; i < state.range(0); ++i) {
    now += std::chrono::milliseconds(1);
    (void)scheduler.apply(job(random, state.range(2)), now).has_value();
  }
  std::vector<JobId> running;
  const auto act = [&](const std::vector<Action>& actions) {
    for (const Action& action : actions) {
      if (const auto* start = std::get_if<StartJob>(&action)) {
        running.push_back(start->job);
      } else if (const auto* end = std::get_if<JobEnded>(&action)) {
        scheduler.forget(end->job);
      }
    }
  };
  act(scheduler.step(now));
  std::size_t next = 0;
  for (auto _ : state) {
    now += std::chrono::milliseconds(1);
    next = (next + 1) % running.size();
    const JobId ended = running[next];
    running.erase(running.begin() + static_cast<std::ptrdiff_t>(next));
    scheduler.apply(JobExited{ended}, now);
    const std::size_t before = running.size();
    act(scheduler.step(now));
    for (std::size_t i = before; i < running.size(); ++i) {
      (void)scheduler.apply(job(random, state.range(2)), now).has_value();
    }
  }
  state.SetComplexityN(state.range(0));
}
BENCHMARK(steady_state)
    ->ArgNames({"queued", "policy", "kinds"})  // fifo, priority, rl
    ->ArgsProduct({{1000, 10000, 100000, 1000000}, {0, 1, 2}, {1, 32}});

/// The learned policy ranks 128 jobs, and holds what is free for one that does not fit: a decision
/// that starts nothing, although others would fit.
void learned_decision(benchmark::State& state) {
  Scheduler scheduler(policy(2), {});
  for (int i = 0; i < 8; ++i) {
    scheduler.add_device({std::to_string(i), "", "", gibibytes(24), {}});
  }
  Time now{};
  Submit job;
  job.spec.needs.gpus = 6;
  job.spec.expected = std::chrono::hours(100);
  (void)scheduler.apply(job, now).has_value();
  scheduler.step(now);
  for (int i = 0; i < 128; ++i) {
    job.spec.needs.gpus = static_cast<std::uint32_t>(1 + i % 5);
    job.spec.expected =
        job.spec.needs.gpus > 2 ? std::chrono::seconds(1 + i) : std::chrono::hours(50 + i);
    (void)scheduler.apply(job, now).has_value();
  }
  for (auto _ : state) {
    now += std::chrono::milliseconds(1);
    if (!scheduler.step(now).empty()) {
      state.SkipWithError("a job has started");
    }
  }
}
BENCHMARK(learned_decision);

void submit_one(benchmark::State& state) {
  Scheduler scheduler(make_priority(), {});
  scheduler.add_device({"0", "", "", gibibytes(24), {}});
  Random random(1);
  Time now{};
  for (std::int64_t i = 0; i < state.range(0); ++i) {
    (void)scheduler.apply(job(random, 1), now).has_value();
  }
  for (auto _ : state) {
    now += std::chrono::microseconds(1);
    (void)scheduler.apply(job(random, 1), now).has_value();
  }
}
BENCHMARK(submit_one)
    ->ArgName("queued")
    ->Arg(1000)
    ->Arg(10000)
    ->Arg(100000)
    ->Arg(1000000)
    ->Iterations(200000);

}  // namespace
}  // namespace berth
