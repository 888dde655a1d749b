// Walks over many rows, some at a time.
#include <map>

#include "store/fixture.h"
#include "store/store.h"

namespace berth {
namespace {

class WalkTest : public StoreTest {
 protected:
  /// Job i runs from i to 10 × i and has two attempts where i is even.
  void fill(int count) {
    open();
    for (int i = 1; i <= count; ++i) {
      JobDescription job = job_named("job " + std::to_string(i));
      job.project = i % 3 == 0 ? "third" : "";
      job.labels["parity"] = i % 2 == 0 ? "even" : "odd";
      const JobId id = add(*store_, job);
      for (std::uint16_t number = 1; number <= (i % 2 == 0 ? 2 : 1); ++number) {
        StoredAttempt attempt;
        attempt.job = id;
        attempt.attempt = number;
        attempt.devices = {"0", "1"};
        attempt.begun = at(i);
        EXPECT_OK(store_->attempts().begin(attempt));
        EXPECT_OK(store_->attempts().start(id, number, 7, at(i)));
        EXPECT_OK(store_->attempts().end(id, number, ending(Outcome::Failed, at(10 * i))));
      }
      EXPECT_OK(store_->jobs().end(id, ending(Outcome::Failed, at(10 * i))));
    }
  }

  using Seen = std::vector<std::pair<std::uint64_t, int>>;
  Seen attempts(Time from, Time to, std::size_t most) {
    Seen seen;
    AttemptCursor cursor;
    while (*store_->walks().attempts(cursor, from, to, most, [&](const EndedAttempt& each) {
      seen.emplace_back(each.attempt.job.value, each.attempt.attempt);
    })) {
    }
    return seen;
  }
};

TEST_F(WalkTest, AttemptsThatOverlap) {
  fill(5);
  const Seen all = {{5, 1}, {4, 2}, {4, 1}, {3, 1}, {2, 2}, {2, 1}, {1, 1}};
  for (const std::size_t most : {1U, 2U, 3U, 7U, 100U}) {
    EXPECT_EQ(attempts(at(0), at(1000), most), all) << most;
    EXPECT_EQ(attempts(at(30), at(4), most), (Seen{{4, 2}, {4, 1}, {3, 1}})) << most;
    EXPECT_EQ(attempts(at(51), kNever, most), Seen{}) << most;
  }
  AttemptCursor cursor;
  EXPECT_OK(store_->walks().attempts(cursor, at(30), at(3), 100, [&](const EndedAttempt& each) {
    EXPECT_EQ(each.name, "job 3");
    EXPECT_EQ(*store_->walks().shared_text(each.project), "third");
    EXPECT_EQ(each.sweep, 0);
    EXPECT_EQ(each.attempt.devices.size(), 2U);
    EXPECT_EQ(each.attempt.started, at(3));
    EXPECT_EQ(each.attempt.ending->ended, at(30));
    EXPECT_EQ(each.attempt.ending->outcome, Outcome::Failed);
  }));
}

TEST_F(WalkTest, AnAttemptThatHasNotEndedIsNotThere) {
  fill(1);
  EXPECT_OK(store_->jobs().set_waiting(JobId{1}, false, at(20)));
  StoredAttempt attempt;
  attempt.job = JobId{1};
  attempt.attempt = 2;
  attempt.begun = at(20);
  EXPECT_OK(store_->attempts().begin(attempt));
  EXPECT_EQ(attempts(at(0), kNever, 10), (Seen{{1, 1}}));
}

TEST_F(WalkTest, Ends) {
  fill(30);
  for (const std::size_t most : {1U, 4U, 100U}) {
    int count = 0;
    EndCursor cursor{JobId{}, kNever};
    while (*store_->walks().ends(cursor, at(200), most, [&](JobPhase phase) {
      EXPECT_EQ(phase, JobPhase::Failed);
      ++count;
    })) {
    }
    EXPECT_EQ(count, 11);
  }
}

TEST_F(WalkTest, Labels) {
  fill(9);
  for (const std::size_t most : {1U, 4U, 100U}) {
    std::map<std::string, int> counts;
    std::vector<std::int64_t> labels;
    LabelCursor cursor;
    while (*store_->walks().labels(cursor, most, [&](std::int64_t id) { labels.push_back(id); })) {
    }
    for (const std::int64_t label : labels) {
      const auto text = store_->walks().label_text(label);
      ++counts[text->first + "=" + text->second];
    }
    EXPECT_EQ(counts, (std::map<std::string, int>{{"parity=even", 4}, {"parity=odd", 5}}));
  }
}

TEST_F(WalkTest, ScansMatchLists) {
  fill(20);
  for (const bool descending : {false, true}) {
    JobQuery query;
    query.descending = descending;
    query.filter.project = "third";
    query.filter.names = {"job 1*", "job 3"};
    query.filter.ids = {{JobId{2}, JobId{12}}, {JobId{15}, JobId{40}}};
    query.filter.labels = {{"parity", "odd"}};
    std::vector<std::uint64_t> seen;
    std::string command;
    const auto visit = [&](const ScannedJob& job) {
      seen.push_back(job.id.value);
      command = job.command;
      EXPECT_EQ(job.ended - job.started, std::chrono::seconds(9 * job.id.value));
      EXPECT_EQ(*store_->walks().shared_text(job.project), "third");
      EXPECT_EQ(job.name, "job " + std::to_string(job.id.value));
    };
    const IdRange low{JobId{1}, JobId{10}};
    const IdRange high{JobId{11}, JobId{20}};
    EXPECT_OK(
        store_->walks().scan({query.filter, descending ? high : low, descending, true}, visit));
    EXPECT_EQ(command, "true");
    EXPECT_OK(
        store_->walks().scan({query.filter, descending ? low : high, descending, false}, visit));
    EXPECT_EQ(command, "");
    EXPECT_EQ(seen, ids(*store_->jobs().list(query)));
    EXPECT_EQ(seen.size(), 2U);
  }
}

}  // namespace
}  // namespace berth
