// What a decision of the learned policy costs: no memory but that of its answer.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "core/scheduler.h"
#include "policy/learned.h"
#include "rl/model_file.h"

namespace {

std::atomic<std::uint64_t> allocations = 0;

}  // namespace

void* operator new(std::size_t size) {
  ++allocations;
  void* memory = std::malloc(size > 0 ? size : 1);
  if (memory == nullptr) {
    throw std::bad_alloc();
  }
  return memory;
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace berth {
namespace {

struct Counts {
  std::uint64_t decisions = 0;
  std::uint64_t spent = 0;  // allocations beyond the list of devices that a proposal is
};

/// The learned policy, with its allocations counted.
class Counting final : public Policy {
 public:
  explicit Counting(Counts& counts) : counts_(counts), inner_(make_learned(shipped_model())) {}

  std::string_view name() const override { return inner_->name(); }
  Rank rank(const Job& job, const Needs& needs) override { return inner_->rank(job, needs); }
  void joined(const Job& job, const Needs& needs) override { inner_->joined(job, needs); }
  void left(const Job& job, const Needs& needs) override { inner_->left(job, needs); }
  void started(const Job& job, const Needs& needs, Time now) override {
    inner_->started(job, needs, now);
  }
  void stopped(const Job& job, const Needs& needs, Time now) override {
    inner_->stopped(job, needs, now);
  }
  std::optional<Proposal> propose(const View& view) override {
    const std::uint64_t before = allocations;
    std::optional<Proposal> proposal = inner_->propose(view);
    counts_.spent += allocations - before - (proposal ? 1 : 0);
    ++counts_.decisions;
    return proposal;
  }

 private:
  Counts& counts_;
  std::unique_ptr<Policy> inner_;
};

TEST(LearnedDecision, TakesNoMemoryAmong128WaitingJobs) {
  Counts counts;
  Scheduler scheduler(std::make_unique<Counting>(counts), {});
  for (int i = 0; i < 8; ++i) {
    scheduler.add_device({std::to_string(i), "", "", gibibytes(24), {}});
  }
  Time now{};
  for (std::uint32_t i = 0; i < 140; ++i) {
    Submit job;
    job.spec.needs.gpus = 1 + i % 4;
    job.spec.expected = std::chrono::minutes(1 + i % 50);
    ASSERT_TRUE(scheduler.apply(job, now));
  }
  std::vector<JobId> running;
  for (int round = 0; round < 12; ++round) {  // all while 128 jobs or more wait
    now += std::chrono::minutes(1);
    for (const Action& action : scheduler.step(now)) {
      if (const auto* start = std::get_if<StartJob>(&action)) {
        running.push_back(start->job);
      }
    }
    ASSERT_FALSE(running.empty());
    scheduler.apply(JobStarted{running.front()}, now);
    scheduler.apply(JobExited{running.front()}, now);
    running.erase(running.begin());
  }
  EXPECT_GE(counts.decisions, 12U);
  EXPECT_EQ(counts.spent, 0U);
}

/// A model whose ranks are not numbers says so.
TEST(LearnedDecision, ABrokenModelIsInTrouble) {
  Model model = shipped_model();
  model.weights[0] = std::numeric_limits<float>::quiet_NaN();
  for (const bool broken : {false, true}) {
    Scheduler scheduler(make_learned(broken ? model : shipped_model()), {});
    scheduler.add_device({"0", "", "", gibibytes(24), {}});
    ASSERT_TRUE(scheduler.apply(Submit{}, Time{}));
    scheduler.step(Time{});
    EXPECT_EQ(model_trouble(scheduler.policy()), broken ? "its model's ranks are not numbers" : "");
  }
}

}  // namespace
}  // namespace berth
