// What is written down of what a scheduler is told, and told again.
#include "store/journal.h"

#include <gtest/gtest.h>

#include "base/random.h"
#include "drive/journal_player.h"
#include "policy/policies.h"

namespace berth {
namespace {

using std::chrono::seconds;

class JournalRowsTest : public ::testing::Test {
 protected:
  void submit(JobSpec spec, std::uint64_t id, std::uint32_t count, Time at) {
    rows_.add(Submit{std::move(spec), JobId{id}, count, true}, at);
  }
  void stand(JobSpec spec, std::uint64_t id, Time submitted, std::optional<Rank> rank = {}) {
    rows_.add(
        Restored{Restore{
            JobId{id}, std::move(spec), submitted, 0, {}, false, 0, Standing{kNever, rank, {}}}},
        now_);
  }
  std::size_t bytes() const {
    std::size_t all = 0;
    for (const JournalInput& input : written_) {
      all += encode_input(input).size();
    }
    return all;
  }

  std::vector<JournalInput> written_;
  JournalRows rows_{[this](const JournalInput& input, Time) { written_.push_back(input); }};
  Time now_{seconds(1'700'000'000)};
};

TEST_F(JournalRowsTest, AMillionJobsOfOneKindAreAFewEntries) {
  JobSpec spec;
  spec.needs.memory = gibibytes(8);
  spec.owner = OwnerId{3};
  for (std::uint64_t id = 1; id <= 1'000'000; id += 200) {
    submit(spec, id, 200, now_);
  }
  rows_.flush();
  EXPECT_LE(written_.size(), 10U);
  EXPECT_LT(bytes(), 1000U);
}

TEST_F(JournalRowsTest, OnlyWhatIsAlikeIsJoined) {
  submit({}, 1, 1, now_);
  submit({}, 2, 3, now_);
  submit({}, 6, 1, now_);  // not in a row
  JobSpec other;
  other.priority = 1;
  submit(other, 7, 1, now_);
  submit(other, 8, 1, now_ + Duration(1));  // at another time
  rows_.flush();
  ASSERT_EQ(written_.size(), 4U);
  EXPECT_EQ(std::get<Submit>(written_[0]).count, 4U);
}

TEST_F(JournalRowsTest, JobsAsTheyStandTakeAFewBytesEach) {
  for (std::uint64_t id = 1; id <= 10'000; ++id) {
    // One after the other, each with a place of its own, as a fair policy gives them.
    stand({}, id, now_ + Duration(seconds(id)), static_cast<Rank>(id * 3'600'000));
  }
  rows_.flush();
  EXPECT_LT(bytes(), 150'000U);
  std::uint64_t next = 1;
  for (const JournalInput& input : written_) {
    const std::optional<JournalInput> back = decode_input(encode_input(input));
    ASSERT_TRUE(back);
    std::get<Restored>(*back).for_each([&](const Restore& job) {
      ASSERT_EQ(job.id.value, next);
      ASSERT_EQ(job.submitted, now_ + Duration(seconds(next)));
      ASSERT_EQ(job.standing->rank, static_cast<Rank>(next * 3'600'000));
      ++next;
    });
  }
  EXPECT_EQ(next, 10'001U);
}

/// Any inputs, most of them impossible: the player refuses, and lives.
TEST(JournalPlayerTest, SurvivesAnyJournal) {
  Random random(5);
  const Time at{seconds(1'700'000'000)};
  std::uint64_t refused = 0;
  for (int round = 0; round < 3000; ++round) {
    JournalPlayer player;
    const auto job = [&] { return JobId{1 + random.below(4)}; };
    const auto device = [&] { return DeviceId{static_cast<std::uint32_t>(random.below(3))}; };
    const auto standing = [&](bool stands) {
      Restore restore{job(), {}, at, 1, std::nullopt};
      if (random.below(2) == 0) {
        restore.running = Running{{device(), device()}, at};
        restore.starting = random.below(2) == 0;
      }
      if (stands) {
        restore.standing = Standing{at, {}, {gibibytes(1), gibibytes(2), gibibytes(3)}};
      }
      return Restored{restore, static_cast<std::uint32_t>(1 + random.below(2))};
    };
    const auto books = [&] {
      SchedulerBooks some{random.below(2) == 0, random.below(600), {}};
      for (std::uint64_t n = random.below(5); n > 0; --n) {
        some.policy.push_back(static_cast<std::int64_t>(random.below(4)));
      }
      return some;
    };
    if (random.below(2) == 0) {
      (void)player.take(Restarted{random.below(2) == 0 ? "conservative" : "wfq"}, at).has_value();
      (void)player.take(DeviceAdded{{"0", "", "", gibibytes(8), {}}}, at).has_value();
      (void)player.take(DeviceAdded{{"1", "", "", gibibytes(8), {}}}, at).has_value();
    }
    for (int i = 0; i < 30; ++i) {
      const std::vector<JournalInput> all = {
          Submit{{}, job(), static_cast<std::uint32_t>(1 + random.below(3)), true},
          Submit{{}, JobId{UINT64_MAX}, UINT32_MAX, true},
          Cancel{job()},
          Hold{job()},
          Release{job()},
          JobStarted{job()},
          JobExited{job(), 0},
          JobLost{job()},
          DeviceChanged{device(), DeviceHealth::Drained},
          ForeignUse{device(), gibibytes(1)},
          DeviceTaken{device(), true},
          StartRefused{job(), {device()}},
          standing(false),
          standing(true),
          Restored{Restore{JobId{UINT64_MAX - 1}, {}, at, 0, {}}, UINT32_MAX},
          Restored{Restore{JobId{UINT64_MAX / 2}, {}, at, 0, {}}},
          Edit{job(), {}},
          Stepped{},
          Reclaim{job(), gibibytes(1)},
          Reestimate{job(), Duration(random.below(2) == 0 ? -5 : 5'000'000'000)},
          JobUse{job(), device(), gibibytes(9)},
          PolicyChanged{random.below(2) == 0 ? "easy" : "srtf"},
          CheckpointBegun{},
          JobsGone{{job()}},
          CheckpointDone{
              {random.below(2) == 0 ? "easy" : "stride"},
              {DeviceSlot{{"0", "", "", gibibytes(8), {}}, DeviceHealth::Ok, {}, false, {}}},
              books()}};
      const Result<void> taken = player.take(all[random.below(all.size())], at);
      if (!taken) {
        ++refused;
        break;
      }
    }
  }
  EXPECT_GT(refused, 1000U);
}

}  // namespace
}  // namespace berth
