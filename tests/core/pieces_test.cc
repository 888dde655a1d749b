// What one input can set off in very many jobs happens in steps, each of them short.
#include <gtest/gtest.h>

#include "core/forecast.h"
#include "policy/policies.h"

namespace berth {
namespace {

using std::chrono::seconds;

constexpr std::size_t kMost = 1100;  // actions or jobs that a step may take care of

class Pieces : public testing::Test {
 protected:
  Pieces() { scheduler_.add_device({"0", "", "", {}, {}, {10, 100}}); }

  JobId submit(JobSpec spec, std::uint32_t count = 1) {
    const Result<JobId> taken = scheduler_.apply(Submit{std::move(spec), {}, count}, now_);
    EXPECT_TRUE(taken.has_value()) << (taken ? "" : taken.error().message);
    return taken ? *taken : JobId{};
  }

  static JobSpec after(JobId job, Dependency::When when = Dependency::When::Ok) {
    JobSpec spec;
    spec.after = {{job, when}};
    return spec;
  }

  /// How many steps until there is nothing left to do at this moment.
  int settle() {
    int steps = 0;
    do {
      const std::vector<Action> actions = scheduler_.step(now_);
      EXPECT_LE(actions.size(), kMost);
      for (const Action& action : actions) {
        if (const auto* ended = std::get_if<JobEnded>(&action)) {
          ends_.push_back(ended->job);
          scheduler_.forget(ended->job);
        }
      }
      ++steps;
    } while (scheduler_.wake_at() <= now_);
    return steps;
  }

  Scheduler scheduler_{make_priority(), {}};
  Time now_{seconds(1000)};
  std::vector<JobId> ends_;
};

TEST_F(Pieces, AnEndThatEndsVeryManyOthers) {
  JobSpec held;
  held.held = true;
  const JobId first = submit(held);
  const JobId followers = submit(after(first), 5000);
  const JobId last = submit(after(JobId{followers.value + 4999}), 1);
  ASSERT_TRUE(scheduler_.apply(Cancel{first}, now_).has_value());
  EXPECT_GT(settle(), 4);
  EXPECT_EQ(ends_.size(), 5002U);
  EXPECT_EQ(ends_.back(), last);
  EXPECT_EQ(scheduler_.waiting(), 0U);
  EXPECT_EQ(scheduler_.broken_invariant(now_), "");
}

TEST_F(Pieces, AnEndThatLetsVeryManyStart) {
  JobSpec held;
  held.held = true;
  const JobId first = submit(held);
  submit(after(first, Dependency::When::Any), 5000);
  ASSERT_TRUE(scheduler_.apply(Cancel{first}, now_).has_value());
  EXPECT_LT(scheduler_.queue().size(), kMost);
  EXPECT_GT(settle(), 4);
  EXPECT_EQ(scheduler_.queue().size(), 4999U);  // one runs
}

TEST_F(Pieces, SomeAreHeardOfLaterWhoWereCancelledMeanwhile) {
  JobSpec held;
  held.held = true;
  const JobId first = submit(held);
  const JobId followers = submit(after(first), 3000);
  const JobId last{followers.value + 2999};
  ASSERT_TRUE(scheduler_.apply(Cancel{first}, now_).has_value());
  const Explanation why = scheduler_.explain(last, now_);
  EXPECT_EQ(why.kind, Explanation::Kind::Dependency);
  EXPECT_TRUE(why.blockers.empty() || why.blockers == std::vector{first});
  EXPECT_FALSE(describe(why, now_).empty());
  ASSERT_TRUE(scheduler_.apply(Cancel{last}, now_).has_value());
  settle();
  EXPECT_EQ(ends_.size(), 3001U);
  EXPECT_EQ(scheduler_.broken_invariant(now_), "");
}

TEST_F(Pieces, AJobThatWasCancelledAndRunAgainFollowsNobody) {
  JobSpec held;
  held.held = true;
  const JobId first = submit(held);
  const JobId follower = submit(after(first));
  ASSERT_TRUE(scheduler_.apply(Cancel{follower}, now_).has_value());
  settle();
  JobSpec spec;
  spec.held = true;
  scheduler_.apply(Restore{follower, spec, now_, 0, std::nullopt}, now_);
  ASSERT_TRUE(scheduler_.apply(Cancel{first}, now_).has_value());
  settle();
  ASSERT_NE(scheduler_.find(follower), nullptr);
  EXPECT_TRUE(scheduler_.find(follower)->waiting());
}

TEST_F(Pieces, TheTimeOfVeryManyComesAtOnce) {
  JobSpec spec;
  spec.begin = now_ + seconds(5);
  submit(spec, 5000);
  settle();
  EXPECT_EQ(scheduler_.queue().size(), 0U);
  now_ += seconds(5);
  scheduler_.step(now_);
  EXPECT_LT(scheduler_.queue().size(), kMost);
  EXPECT_GT(settle(), 3);
  EXPECT_EQ(scheduler_.queue().size(), 4999U);
}

TEST_F(Pieces, NumbersMayComeOutOfOrder) {
  ASSERT_TRUE(scheduler_.apply(Submit{{}, JobId{100}, 1}, now_).has_value());
  ASSERT_TRUE(scheduler_.apply(Submit{{}, JobId{10}, 5}, now_).has_value());
  EXPECT_FALSE(scheduler_.apply(Submit{{}, JobId{14}, 2}, now_).has_value());
  EXPECT_FALSE(scheduler_.apply(Submit{{}, JobId{100}, 1}, now_).has_value());
  EXPECT_EQ(submit({}), JobId{101});
}

TEST_F(Pieces, AForecastLooksAtTheFirstJobsOnly) {
  JobSpec spec;
  spec.expected = seconds(10);
  const JobId first = submit(spec, 50'000);
  JobSpec following = after(first);
  following.expected = seconds(20);
  submit(following, 50'000);
  settle();
  Forecast forecast = scheduler_.forecast(make_priority(), seconds(1), 100, now_);
  const Forecast::Runs runs = forecast.finish();
  EXPECT_GE(runs.size(), 100U);
  EXPECT_LE(runs.size(), 300U);
  EXPECT_EQ(runs.at(JobId{first.value + 1}).start, now_ + seconds(10));
}

TEST_F(Pieces, AForecastEndsWhateverThePolicyDoes) {
  /// Wants to look again each nanosecond.
  class Restless final : public Policy {
   public:
    std::string_view name() const override { return "restless"; }
    Rank rank(const Job&, const Needs&) override { return 0; }
    std::optional<Proposal> propose(const View&) override { return std::nullopt; }
    Time next_look(const View& view) const override { return view.now() + Duration{1}; }
  };
  submit({});
  Forecast forecast = scheduler_.forecast(std::make_unique<Restless>(), seconds(1), 100, now_);
  EXPECT_TRUE(forecast.finish().empty());
}

TEST_F(Pieces, KindsBeyondTheFirstThousandsWait) {
  // Nothing fits while the device is busy, and no two want the same.
  submit({});
  for (int i = 0; i < 6000; ++i) {
    JobSpec spec;
    spec.needs.memory = Bytes{1000 + i};
    spec.needs.claim = ClaimSource::Given;
    submit(spec);
  }
  settle();
  EXPECT_EQ(scheduler_.running().size(), 1U);
  scheduler_.apply(JobStarted{JobId{1}}, now_);
  scheduler_.apply(JobExited{JobId{1}}, now_);
  settle();
  EXPECT_GE(scheduler_.running().size(), 1U);
}

}  // namespace
}  // namespace berth
