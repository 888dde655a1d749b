// Filters, orders and pages, against a plain walk over all jobs.
#include <fnmatch.h>

#include <algorithm>
#include <limits>
#include <set>

#include "base/random.h"
#include "store/fixture.h"
#include "store/store.h"

namespace berth {
namespace {

using Ids = std::vector<std::uint64_t>;

class ListTest : public StoreTest {
 protected:
  /// Eight jobs that differ in everything a filter can see.
  void fill() {
    open();
    for (std::uint64_t i = 1; i <= 8; ++i) {
      JobDescription job =
          job_named(i <= 4 ? fmt::format("train-{}", i) : fmt::format("Eval{}", i));
      job.project = i % 2 == 0 ? "even" : "";
      job.sweep = i > 6 ? "big" : "";
      job.user = i == 3 ? 1001 : 1000;
      job.labels["parity"] = i % 2 == 0 ? "even" : "odd";
      if (i > 5) {
        job.labels["late"] = "";
      }
      job.spec.held = i == 8;
      add(*store_, job);
    }
    EXPECT_OK(store_->jobs().end(JobId{1}, ending(Outcome::Succeeded, at(30))));
    EXPECT_OK(store_->jobs().end(JobId{2}, ending(Outcome::Failed, at(10))));
    EXPECT_OK(store_->jobs().end(JobId{5}, ending(Outcome::Succeeded, at(20))));
    EXPECT_OK(store_->jobs().end(JobId{6}, ending(Outcome::Cancelled, at(20))));
  }

  std::vector<std::uint64_t> found(const JobQuery& query) {
    return ids(*store_->jobs().list(query));
  }
  std::vector<std::uint64_t> matching(const JobFilter& filter) {
    JobQuery query;
    query.filter = filter;
    return found(query);
  }
};

TEST_F(ListTest, NothingFollowsTheHighestNumber) {
  fill();
  JobQuery query;
  query.after = JobCursor{JobId{std::numeric_limits<std::int64_t>::max()}, {}};
  EXPECT_EQ(found(query), Ids{});
  query.filter.ids = {{JobId{2}, JobId{std::numeric_limits<std::int64_t>::max()}}};
  EXPECT_EQ(found(query), Ids{});
  query.after = JobCursor{JobId{6}, {}};
  EXPECT_EQ(found(query), (Ids{7, 8}));
}

TEST_F(ListTest, EachFilter) {
  fill();
  JobFilter filter;
  EXPECT_EQ(matching(filter), (Ids{1, 2, 3, 4, 5, 6, 7, 8}));
  filter.phases = {JobPhase::Succeeded};
  EXPECT_EQ(matching(filter), (Ids{1, 5}));
  filter.phases = {JobPhase::Succeeded, JobPhase::Held, JobPhase::Failed, JobPhase::Held};
  EXPECT_EQ(matching(filter), (Ids{1, 2, 5, 8}));
  filter = {};
  filter.ids = {
      {JobId{7}, JobId{100}}, {JobId{2}, JobId{3}}, {JobId{3}, JobId{3}}, {JobId{5}, JobId{4}}};
  EXPECT_EQ(matching(filter), (Ids{2, 3, 7, 8}));
  filter = {};
  filter.names = {"train-*"};
  EXPECT_EQ(matching(filter), (Ids{1, 2, 3, 4}));
  filter.names = {"*[l-n]?5"};
  EXPECT_EQ(matching(filter), Ids{});
  filter.names = {"?val[5-6]"};
  EXPECT_EQ(matching(filter), (Ids{5, 6}));
  filter = {};
  filter.project = "even";
  EXPECT_EQ(matching(filter), (Ids{2, 4, 6, 8}));
  filter.project = "";
  EXPECT_EQ(matching(filter), (Ids{1, 3, 5, 7}));
  filter.project = "unheard of";
  EXPECT_EQ(matching(filter), Ids{});
  filter = {};
  filter.sweep = "big";
  EXPECT_EQ(matching(filter), (Ids{7, 8}));
  filter = {};
  filter.user = 1001;
  EXPECT_EQ(matching(filter), (Ids{3}));
  filter = {};
  filter.labels = {{"parity", "odd"}};
  EXPECT_EQ(matching(filter), (Ids{1, 3, 5, 7}));
  filter.labels = {{"parity", "odd"}, {"late", ""}};
  EXPECT_EQ(matching(filter), (Ids{7}));
  filter.labels = {{"parity", ""}};
  EXPECT_EQ(matching(filter), Ids{});
}

TEST_F(ListTest, ByTheTimeOfTheEnd) {
  fill();
  JobQuery query;
  query.order = JobOrder::ByEnd;
  EXPECT_EQ(found(query), (Ids{2, 5, 6, 1}));
  query.descending = true;
  EXPECT_EQ(found(query), (Ids{1, 6, 5, 2}));
  query.filter.ids = {{JobId{5}, JobId{6}}, {JobId{1}, JobId{1}}};
  EXPECT_EQ(found(query), (Ids{1, 6, 5}));
  query.filter.labels = {{"parity", "odd"}};
  EXPECT_EQ(found(query), (Ids{1, 5}));
  query.filter.phases = {JobPhase::Queued};
  EXPECT_EQ(found(query), Ids{});
}

TEST_F(ListTest, ListsHaveEverythingButTheEnvironment) {
  fill();
  const JobRecord listed = store_->jobs().list({})->jobs[3];
  JobRecord whole = *store_->jobs().record(JobId{4});
  EXPECT_FALSE(whole.description.environment.empty());
  whole.description.environment = {};
  EXPECT_EQ(text(listed), text(whole));
}

/// All combinations of filters, orders and page sizes, page by page.
TEST_F(ListTest, PagesAddUpToThePlainWalk) {
  open();
  Random random(3);
  std::vector<JobRecord> all;
  for (int i = 0; i < 300; ++i) {
    JobDescription job = job_named(std::string(1, static_cast<char>('a' + random.below(4))));
    job.project = random.below(2) == 0 ? "p" : "";
    job.sweep = random.below(2) == 0 ? "s" : "";
    job.user = static_cast<uid_t>(random.below(2));
    job.labels["l"] = random.below(2) == 0 ? "x" : "y";
    const JobId id = add(*store_, job);
    if (random.below(3) > 0) {
      EXPECT_OK(store_->jobs().end(id, ending(static_cast<Outcome>(random.below(6)),
                                              at(static_cast<std::int64_t>(random.below(40))))));
    }
    all.push_back(*store_->jobs().record(id));
  }
  for (int round = 0; round < 300; ++round) {
    SCOPED_TRACE(round);
    JobQuery query;
    JobFilter& filter = query.filter;
    const auto maybe = [&] { return random.below(4) == 0; };
    while (maybe()) {
      filter.phases.push_back(static_cast<JobPhase>(random.below(kPhases)));
    }
    while (maybe()) {
      const std::uint64_t first = random.below(300);
      filter.ids.push_back({JobId{first}, JobId{first + random.below(150)}});
    }
    filter.names = maybe() ? std::vector<std::string>{"[ab]", "c"} : std::vector<std::string>{};
    filter.project = maybe() ? std::optional(random.below(2) == 0 ? "p" : "") : std::nullopt;
    filter.sweep = maybe() ? std::optional(random.below(2) == 0 ? "s" : "") : std::nullopt;
    filter.user = maybe() ? std::optional<uid_t>(1) : std::nullopt;
    if (maybe()) {
      filter.labels = {{"l", "x"}};
    }
    query.order = random.below(2) == 0 ? JobOrder::ById : JobOrder::ByEnd;
    query.descending = random.below(2) == 0;
    query.limit = 1 + random.below(100);

    std::vector<JobRecord> expected;
    for (const JobRecord& job : all) {
      const JobDescription& d = job.description;
      const auto in = [&](const IdRange& r) { return r.first <= job.id && job.id <= r.last; };
      if ((filter.phases.empty() ||
           std::count(filter.phases.begin(), filter.phases.end(), job.phase)) &&
          (filter.ids.empty() || std::any_of(filter.ids.begin(), filter.ids.end(), in)) &&
          (filter.names.empty() || std::any_of(filter.names.begin(), filter.names.end(),
                                               [&](const std::string& name) {
                                                 return ::fnmatch(name.c_str(), d.name.c_str(),
                                                                  0) == 0;
                                               })) &&
          (!filter.project || *filter.project == d.project) &&
          (!filter.sweep || *filter.sweep == d.sweep) && (!filter.user || *filter.user == d.user) &&
          (filter.labels.empty() || d.labels.at("l") == "x") &&
          (query.order == JobOrder::ById || job.ending)) {
        expected.push_back(job);
      }
    }
    if (query.order == JobOrder::ByEnd) {
      std::stable_sort(expected.begin(), expected.end(), [](const auto& a, const auto& b) {
        return a.ending->ended < b.ending->ended;
      });
    }
    if (query.descending) {
      std::reverse(expected.begin(), expected.end());
    }
    std::vector<std::uint64_t> seen;
    do {
      const JobPage page = *store_->jobs().list(query);
      const std::vector<std::uint64_t> more = ids(page);
      seen.insert(seen.end(), more.begin(), more.end());
      query.after = page.next;
    } while (query.after);
    ASSERT_EQ(seen, ids({expected, {}}));
  }
}

TEST_F(ListTest, PagesAreStableWhileRowsChange) {
  open();
  for (int i = 0; i < 200; ++i) {
    add(*store_, job_named("x"));
  }
  Random random(5);
  std::set<std::uint64_t> changed;
  std::vector<std::uint64_t> seen;
  JobQuery query;
  query.limit = 7;
  query.filter.phases = {JobPhase::Queued, JobPhase::Held};
  do {
    const JobPage page = *store_->jobs().list(query);
    for (const std::uint64_t id : ids(page)) {
      seen.push_back(id);
    }
    query.after = page.next;
    for (int i = 0; i < 5; ++i) {
      const JobId id{1 + random.below(200)};
      changed.insert(id.value);
      (void)store_->jobs().end(id, ending(Outcome::Cancelled, at(i))).has_value();  // or is gone
    }
    EXPECT_OK(store_->jobs().set_waiting(JobId{100}, true, at(0)));
    EXPECT_OK(store_->jobs().forget({kNever, {}, 2}));
    EXPECT_OK(store_->commit());
  } while (query.after);
  EXPECT_TRUE(std::is_sorted(seen.begin(), seen.end()));
  EXPECT_EQ(std::set(seen.begin(), seen.end()).size(), seen.size());
  for (std::uint64_t id = 1; id <= 200; ++id) {
    if (changed.count(id) == 0) {
      EXPECT_EQ(std::count(seen.begin(), seen.end(), id), 1) << id;
    }
  }
}

}  // namespace
}  // namespace berth
