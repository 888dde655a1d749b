// Submissions that are written little by little: nobody sees them before they are complete, and a
// crash leaves all of them or none.
#include "store/staged.h"

#include "store/fixture.h"
#include "store/sqlite.h"

namespace berth {
namespace {

class StagedTest : public StoreTest {
 protected:
  std::vector<std::uint64_t> listed(JobFilter filter = {}) {
    JobQuery query;
    query.filter = std::move(filter);
    query.limit = 1000;
    std::vector<std::uint64_t> ids;
    const JobPage page = *store_->jobs().list(query);
    for (const JobRecord& job : page.jobs) {
      ids.push_back(job.id.value);
    }
    return ids;
  }

  std::size_t scanned() {
    std::size_t count = 0;
    const JobFilter all;
    EXPECT_OK(
        store_->walks().scan({all, {JobId{1}, JobId{1000}}}, [&](const ScannedJob&) { ++count; }));
    return count;
  }

  std::size_t live() {
    std::size_t count = 0;
    EXPECT_OK(store_->jobs().for_each_live([&](const LiveJob&) { ++count; }));
    return count;
  }

  std::size_t labelled() {
    std::size_t count = 0;
    LabelCursor at;
    while (*store_->walks().labels(at, 2, [&](std::int64_t) { ++count; })) {
    }
    return count;
  }

  std::uint64_t queued() {
    return store_->jobs().counts()[static_cast<std::size_t>(JobPhase::Queued)];
  }
  std::uint64_t held() { return store_->jobs().counts()[static_cast<std::size_t>(JobPhase::Held)]; }

  static JobDescription labelled_job() {
    JobDescription job = job_named("staged");
    job.labels = {{"a", "b"}};
    job.array_index = 0;
    return job;
  }

  /// Ten numbers are kept, six of them written, and one job beside them.
  void stage_some() {
    open();
    add(*store_, job_named("before"));
    EXPECT_OK(store_->staged().stage(JobId{2}, 10));
    EXPECT_EQ(store_->jobs().next_id(), JobId{12});
    EXPECT_OK(store_->jobs().insert(JobId{2}, 4, labelled_job(), at(0)));
    add(*store_, job_named("beside"));
    JobDescription waits = labelled_job();
    waits.spec.held = true;
    EXPECT_OK(store_->jobs().insert(JobId{6}, 2, waits, at(0)));
  }
};

TEST_F(StagedTest, NobodySeesThem) {
  stage_some();
  EXPECT_EQ(listed(), (std::vector<std::uint64_t>{1, 12}));
  JobFilter some;
  some.ids = {{JobId{1}, JobId{3}}, {JobId{5}, JobId{20}}};
  EXPECT_EQ(listed(some), (std::vector<std::uint64_t>{1, 12}));
  JobFilter named;
  named.or_named = {{std::nullopt, "*e*"}};
  named.ids = {{JobId{4}, JobId{4}}};
  EXPECT_EQ(listed(named), (std::vector<std::uint64_t>{1, 12}));
  EXPECT_EQ(scanned(), 2U);
  EXPECT_EQ(live(), 2U);
  EXPECT_EQ(labelled(), 0U);
  EXPECT_EQ(queued(), 2U);
  EXPECT_EQ(held(), 0U);
  EXPECT_EQ(store_->jobs().record(JobId{3}).error().code, ErrorCode::NotFound);
  EXPECT_EQ(store_->jobs().phase(JobId{3}).error().code, ErrorCode::NotFound);
  EXPECT_TRUE(store_->jobs().phase(JobId{12}).has_value());
}

TEST_F(StagedTest, AreShownLittleByLittle) {
  stage_some();
  EXPECT_OK(store_->jobs().insert(JobId{8}, 4, labelled_job(), at(0)));
  EXPECT_OK(store_->staged().complete(JobId{2}));
  EXPECT_OK(store_->staged().show(JobId{2}, 4, 0));
  EXPECT_EQ(listed(), (std::vector<std::uint64_t>{1, 2, 3, 4, 5, 12}));
  EXPECT_EQ(labelled(), 4U);
  EXPECT_OK(store_->staged().show(JobId{6}, 6, 2));
  EXPECT_TRUE(store_->staged().all().empty());
  EXPECT_EQ(scanned(), 12U);
  EXPECT_EQ(held(), 2U);
  EXPECT_EQ(queued(), 10U);
  EXPECT_EQ(*store_->jobs().record(JobId{9})->description.array_index, 1U);
  EXPECT_OK(store_->commit());
  open();
  EXPECT_EQ(scanned(), 12U);
  EXPECT_EQ(queued(), 10U);
}

TEST_F(StagedTest, WhatIsIncompleteStaysUnseenAfterACrashAndCanBeDropped) {
  stage_some();
  EXPECT_OK(store_->commit());
  open();
  EXPECT_EQ(listed(), (std::vector<std::uint64_t>{1, 12}));
  EXPECT_EQ(live(), 2U);
  ASSERT_EQ(store_->staged().all().size(), 1U);
  EXPECT_EQ(store_->jobs().next_id(), JobId{13});
  EXPECT_OK(store_->staged().drop(JobId{2}, 7));
  EXPECT_OK(store_->commit());
  open();
  ASSERT_EQ(store_->staged().all().size(), 1U);
  EXPECT_OK(store_->staged().drop(JobId{9}, 3));
  EXPECT_OK(store_->commit());
  open();
  EXPECT_TRUE(store_->staged().all().empty());
  EXPECT_EQ(listed(), (std::vector<std::uint64_t>{1, 12}));
  EXPECT_EQ(queued(), 2U);
  store_.reset();
  Database database = *Database::open(path_);
  EXPECT_EQ(*database.number("SELECT count(*) FROM jobs"), 2);
  EXPECT_EQ(*database.number("SELECT count(*) FROM details"), 2);
  EXPECT_EQ(*database.number("SELECT count(*) FROM labels"), 0);
  // The environment, the directory and the needs that the other two have.
  EXPECT_EQ(*database.number("SELECT count(*) FROM shared"), 3);
  EXPECT_EQ(*database.number("SELECT max(uses) FROM shared"), 2);
}

TEST_F(StagedTest, WhatIsCompleteIsThereAfterACrash) {
  stage_some();
  EXPECT_OK(store_->jobs().insert(JobId{8}, 4, labelled_job(), at(0)));
  EXPECT_OK(store_->staged().complete(JobId{2}));
  EXPECT_OK(store_->staged().show(JobId{2}, 1, 0));
  EXPECT_OK(store_->commit());
  open();
  EXPECT_TRUE(store_->staged().all().empty());
  EXPECT_EQ(scanned(), 12U);
  EXPECT_EQ(live(), 12U);
  EXPECT_EQ(held(), 2U);
  EXPECT_EQ(queued(), 10U);
}

TEST_F(StagedTest, WhatWasNotCommittedNeverWas) {
  open();
  add(*store_, job_named("before"));
  EXPECT_OK(store_->commit());
  EXPECT_OK(store_->staged().stage(JobId{2}, 10));
  EXPECT_OK(store_->jobs().insert(JobId{2}, 4, labelled_job(), at(0)));
  store_->rollback();
  EXPECT_TRUE(store_->staged().all().empty());
  EXPECT_EQ(store_->jobs().next_id(), JobId{2});
  EXPECT_FALSE(store_->staged().complete(JobId{2}).has_value());
  EXPECT_FALSE(store_->staged().show(JobId{2}, 1, 0).has_value());
  EXPECT_FALSE(store_->staged().drop(JobId{2}, 1).has_value());
}

TEST_F(StagedTest, LargeGroupsGoToTheTables) {
  open();
  EXPECT_OK(store_->staged().stage(JobId{1}, 30'000));
  for (std::uint64_t i = 0; i < 30; ++i) {
    EXPECT_OK(store_->jobs().insert(JobId{1 + 1000 * i}, 1000, labelled_job(), at(0)));
    EXPECT_OK(store_->commit());
  }
  EXPECT_OK(store_->staged().complete(JobId{1}));
  EXPECT_OK(store_->commit());
  open();
  EXPECT_EQ(queued(), 30'000U);
}

TEST(WithoutStaged, LeavesTheParts) {
  const Staging staging = {{JobId{5}, 3}, {JobId{10}, 1}};
  const auto parts = [&](std::vector<IdRange> ranges) {
    std::string text;
    for (const IdRange& range : without_staged(ranges, staging)) {
      text += fmt::format("{}-{} ", range.first.value, range.last.value);
    }
    return text;
  };
  EXPECT_EQ(parts({{JobId{1}, JobId{20}}}), "1-4 8-9 11-20 ");
  EXPECT_EQ(parts({{JobId{5}, JobId{7}}}), "");
  EXPECT_EQ(parts({{JobId{6}, JobId{6}}, {JobId{8}, JobId{10}}}), "8-9 ");
  EXPECT_EQ(parts({{JobId{7}, JobId{8}}}), "8-8 ");
  EXPECT_TRUE(is_staged(staging, JobId{5}));
  EXPECT_TRUE(is_staged(staging, JobId{7}));
  EXPECT_FALSE(is_staged(staging, JobId{8}));
}

}  // namespace
}  // namespace berth
