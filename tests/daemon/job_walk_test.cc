#include "daemon/scans/job_walk.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "store/fixture.h"

namespace berth {
namespace {

class JobWalkTest : public StoreTest {
 protected:
  /// `name0`, `name1`, …
  void fill(int count) {
    open();
    for (int i = 0; i < count; ++i) {
      add(*store_, job_named(fmt::format("name{}", i)));
    }
  }

  std::vector<std::uint64_t> walk(JobQuery query, std::size_t most) {
    std::vector<std::uint64_t> seen;
    JobWalk walk(std::move(query), *store_);
    while (!walk.over()) {
      const Result<std::vector<JobRecord>> jobs = walk.next(*store_, most);
      EXPECT_TRUE(jobs.has_value());
      EXPECT_LE(jobs->size(), most);
      for (const JobRecord& job : *jobs) {
        seen.push_back(job.id.value);
      }
    }
    return seen;
  }
};

TEST_F(JobWalkTest, SeesEachOnceInOrder) {
  fill(1200);
  std::vector<std::uint64_t> all(1200);
  for (std::size_t i = 0; i < all.size(); ++i) {
    all[i] = i + 1;
  }
  for (const std::size_t most : {1U, 7U, 10'000U}) {
    JobQuery query;
    EXPECT_EQ(walk(query, most), all);
    query.descending = true;
    EXPECT_EQ(walk(query, most), std::vector<std::uint64_t>(all.rbegin(), all.rend()));
  }
}

TEST_F(JobWalkTest, BeginsBehindTheCursorAndKeepsToTheFilter) {
  fill(100);
  JobQuery query;
  query.after = JobCursor{JobId{90}, {}};
  EXPECT_EQ(walk(query, 3), (std::vector<std::uint64_t>{91, 92, 93, 94, 95, 96, 97, 98, 99, 100}));
  query.filter.names = {"name9[3-5]"};
  EXPECT_EQ(walk(query, 3), (std::vector<std::uint64_t>{94, 95, 96}));
  query.descending = true;
  query.after = JobCursor{JobId{95}, {}};
  EXPECT_EQ(walk(query, 3), (std::vector<std::uint64_t>{94}));
  query.filter.ids = {{JobId{1}, JobId{10}}, {JobId{1'000'000}, JobId{2'000'000}}};
  EXPECT_EQ(walk(query, 3), (std::vector<std::uint64_t>{}));
}

TEST_F(JobWalkTest, NoJobsAreOverAtOnce) {
  open();
  EXPECT_TRUE(JobWalk({}, *store_).over());
}

TEST_F(JobWalkTest, APieceThatTakesTooLongIsTriedAgainInSmallerOnes) {
  fill(3000);
  JobQuery query;
  query.patience = Duration{};
  query.limit = 3000;
  query.filter.names = {"*x*"};
  EXPECT_EQ(store_->jobs().list(query).error().code, ErrorCode::Timeout);
  query.patience = kForever;
  EXPECT_TRUE(store_->jobs().list(query)->jobs.empty());  // it is as good as before

  IdWindow window({JobId{1}, JobId{100}}, false, 64);
  EXPECT_EQ(window.next().last, JobId{64});
  window.narrow();
  EXPECT_EQ(window.next().last, JobId{8});
  window.narrow();
  EXPECT_EQ(window.next().last, JobId{1});
  EXPECT_EQ(window.patience(), kForever);  // nothing is smaller
  window.looked(Duration{});
  EXPECT_EQ(window.next().first, JobId{2});
}

TEST(IdWindow, GrowsAndShrinksWithWhatItTakes) {
  IdWindow window({JobId{1}, JobId{1'000'000}}, true, 10);
  EXPECT_EQ(window.next().first, JobId{999'991});
  window.looked(Duration{});
  EXPECT_EQ(window.next().first, JobId{999'971});
  EXPECT_EQ(window.next().last, JobId{999'990});
  window.looked(std::chrono::seconds(1));
  EXPECT_EQ(window.next().first, JobId{999'961});
  window.looked_until(JobId{5});
  EXPECT_EQ(window.next().last, JobId{4});
  window.looked(Duration{});
  EXPECT_TRUE(window.over());
}

}  // namespace
}  // namespace berth
