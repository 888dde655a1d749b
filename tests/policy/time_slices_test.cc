#include "policy/time_slices.h"

#include <gtest/gtest.h>

#include <map>

namespace berth {
namespace {

constexpr Duration kSlice = std::chrono::seconds(10);

Time at(int second) { return Time(std::chrono::seconds(second)); }

/// A machine whose jobs run and stop as they are told.
struct Turns {
  TimeSlices slices{kSlice};
  std::map<std::uint64_t, std::vector<std::uint32_t>> on;
  std::map<std::uint64_t, bool> runs;

  void start(std::uint64_t job, std::vector<std::uint32_t> devices, int now) {
    std::vector<DeviceId> ids;
    for (const std::uint32_t device : devices) {
      ids.push_back(DeviceId{device});
    }
    on[job] = devices;
    runs[job] = true;
    slices.started(JobId{job}, ids, at(now));
  }
  void end(std::uint64_t job) {
    on.erase(job);
    runs.erase(job);
    slices.ended(JobId{job});
  }
  /// The jobs that work from then on.
  std::vector<std::uint64_t> turn(int now) {
    for (const TimeSlices::Change& change : slices.turns(at(now))) {
      EXPECT_NE(runs.at(change.job.value), change.runs);
      runs[change.job.value] = change.runs;
    }
    std::map<std::uint32_t, int> working;
    std::vector<std::uint64_t> all;
    for (const auto& [job, running] : runs) {
      if (running) {
        all.push_back(job);
        for (const std::uint32_t device : on[job]) {
          EXPECT_EQ(++working[device], 1) << "two jobs work on device " << device;
        }
      }
    }
    return all;
  }
};

using Jobs = std::vector<std::uint64_t>;

TEST(TimeSlices, LetsJobsOfADeviceWorkInTurn) {
  Turns turns;
  for (std::uint64_t job = 1; job <= 3; ++job) {
    turns.start(job, {0}, 0);
  }
  EXPECT_EQ(turns.turn(0), Jobs{1});
  EXPECT_EQ(turns.slices.next(), at(10));
  EXPECT_EQ(turns.turn(5), Jobs{1});
  EXPECT_EQ(turns.turn(10), Jobs{2});
  EXPECT_EQ(turns.turn(20), Jobs{3});
  EXPECT_EQ(turns.turn(30), Jobs{1});
}

TEST(TimeSlices, StopsNobodyWhereNobodyWaits) {
  Turns turns;
  turns.start(1, {0}, 0);
  turns.start(2, {1}, 0);
  EXPECT_EQ(turns.turn(0), (Jobs{1, 2}));
  EXPECT_EQ(turns.slices.next(), kNever);
}

TEST(TimeSlices, PassesTheRestOfATurnOn) {
  Turns turns;
  turns.start(1, {0}, 0);
  turns.start(2, {0}, 0);
  EXPECT_EQ(turns.turn(0), Jobs{1});
  turns.end(1);
  EXPECT_EQ(turns.turn(3), Jobs{2});
}

TEST(TimeSlices, ANewJobWaitsForItsTurn) {
  Turns turns;
  turns.start(1, {0}, 0);
  turns.turn(0);
  turns.start(2, {0}, 4);
  EXPECT_EQ(turns.turn(4), Jobs{1});
  EXPECT_TRUE(turns.slices.is_stopped(JobId{2}));
  EXPECT_EQ(turns.turn(10), Jobs{2});
}

TEST(TimeSlices, StarvesNoJobThatNeedsSeveralDevices) {
  Turns turns;
  turns.start(1, {0}, 0);
  turns.start(2, {1}, 0);
  turns.start(3, {0}, 0);
  turns.start(4, {1}, 0);
  turns.start(5, {0, 1}, 0);
  int last = 0;
  int longest = 0;
  for (int now = 0; now <= 600; now += 10) {
    if (turns.turn(now) == Jobs{5}) {
      longest = std::max(longest, now - last);
      last = now;
    }
  }
  EXPECT_LE(longest, 30);
  EXPECT_GE(last, 570);
}

}  // namespace
}  // namespace berth
