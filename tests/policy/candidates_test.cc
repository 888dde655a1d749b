// The candidates are the first waiting jobs of the queue, whatever comes and goes.
#include "rl/candidates.h"

#include <gtest/gtest.h>

#include <map>

#include "base/random.h"
#include "core/scheduler.h"

namespace berth {
namespace {

/// Starts what it is told to, in no order; at each decision it compares the candidates with the
/// whole queue.
class Comparing final : public Policy {
 public:
  explicit Comparing(std::size_t& compared) : compared_(compared) {}

  std::string_view name() const override { return "comparing"; }
  Rank rank(const Job& job, const Needs&) override {
    return static_cast<Rank>(job.id.value * 7919 % 3001);
  }
  void joined(const Job& job, const Needs& needs) override { candidates_.joined(job, needs); }
  void left(const Job& job, const Needs&) override { candidates_.left(job); }
  std::optional<Proposal> propose(const View& view) override {
    const auto jobs = candidates_.look(view);
    const std::vector<JobId> first = first_in_order(view.queue(), kMostCandidates);
    EXPECT_EQ(jobs.size(), first.size());
    for (std::size_t i = 0; i < first.size(); ++i) {
      EXPECT_EQ(jobs[i].key.job, first[i]) << i;
    }
    EXPECT_EQ(candidates_.waiting(), view.queue().size());
    EXPECT_EQ(candidates_.are_all(), first.size() == view.queue().size());
    ++compared_;
    return std::nullopt;
  }

 private:
  std::size_t& compared_;
  Candidates candidates_;
};

TEST(Candidates, AreTheFirstOfTheQueueWhateverComesAndGoes) {
  std::size_t compared = 0;
  Scheduler scheduler(std::make_unique<Comparing>(compared), {});
  for (int i = 0; i < 8; ++i) {
    scheduler.add_device({std::to_string(i), "", "", gibibytes(24), {}});
  }
  Random random(1);
  Time now{};
  std::vector<JobId> waiting;
  for (int round = 0; round < 400; ++round) {
    now += std::chrono::seconds(1);
    const bool grows = round / 50 % 2 == 0;  // to some thousands, and down to none
    for (std::uint64_t i = random.below(grows ? 120 : 20); i > 0; --i) {
      Submit job;
      job.spec.needs.gpus = static_cast<std::uint32_t>(1 + random.below(8));
      job.spec.needs.memory = gibibytes(static_cast<std::int64_t>(random.below(9)));
      waiting.push_back(*scheduler.apply(job, now));
    }
    for (std::uint64_t i = random.below(grows ? 20 : 140); i > 0 && !waiting.empty(); --i) {
      std::swap(waiting[random.below(waiting.size())], waiting.back());
      EXPECT_TRUE(scheduler.apply(Cancel{waiting.back()}, now));
      waiting.pop_back();
    }
    scheduler.step(now);
  }
  EXPECT_EQ(compared, 400U);
}

}  // namespace
}  // namespace berth
