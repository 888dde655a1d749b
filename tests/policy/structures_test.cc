// The structures that policies look things up in, against plain loops.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "base/random.h"
#include "policy/backfill_queue.h"
#include "policy/gap.h"
#include "policy/profile.h"
#include "policy/running_ends.h"
#include "policy/window_order.h"

namespace berth {
namespace {

using std::chrono::seconds;

TEST(BackfillTree, FindsWhatALoopFinds) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Random random(seed);
    BackfillTree tree;
    std::map<QueueKey, BackfillEntry> plain;
    for (std::uint64_t i = 1; i < 500; ++i) {
      if (plain.empty() || random.below(3) != 0) {
        BackfillEntry entry;
        entry.key = {static_cast<Rank>(random.below(20)), JobId{i}};
        entry.measures.amount = static_cast<Amount>(random.below(50));
        entry.measures.length = seconds(random.below(100));
        entry.measures.memory = Bytes{static_cast<std::int64_t>(random.below(10))};
        tree.insert(entry);
        plain.emplace(entry.key, entry);
      } else {
        auto gone = plain.begin();
        std::advance(gone, static_cast<long>(random.below(plain.size())));
        tree.erase(gone->first);
        plain.erase(gone);
      }
      const Gap gap{static_cast<Amount>(random.below(30)), seconds(random.below(30)),
                    static_cast<Amount>(random.below(10)) - 1,
                    Bytes{static_cast<std::int64_t>(random.below(8))},
                    Bytes{static_cast<std::int64_t>(random.below(8))}};
      const QueueKey after{static_cast<Rank>(random.below(20)), JobId{random.below(500)}};
      const BackfillEntry* found = tree.first(after, gap);
      auto wanted = plain.upper_bound(after);
      while (wanted != plain.end() && !gap.takes(wanted->second.measures)) {
        ++wanted;
      }
      ASSERT_EQ(found == nullptr, wanted == plain.end());
      if (found != nullptr) {
        EXPECT_EQ(found->key, wanted->first);
      }
    }
  }
}

/// What a search must meet: the first job of each shape that the gap takes, in order.
std::vector<JobId> met_by_a_loop(const std::map<QueueKey, Job>& jobs, const Queue& queue,
                                 const Gap& gap) {
  std::vector<JobId> met;
  std::set<std::uint32_t> shapes;
  for (const auto& [key, job] : jobs) {
    const Measures measures{amount_of(queue.needs(job.shape)), Bytes{}, job.expected};
    if (gap.takes(measures) && shapes.insert(job.shape.value).second) {
      met.push_back(key.job);
    }
  }
  return met;
}

TEST(BackfillQueue, MeetsEachShapeOnceInOrder) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Random random(seed);
    Queue queue;
    BackfillQueue jobs;
    std::map<QueueKey, Job> plain;
    const auto join = [&](Job job) {
      Needs needs;
      needs.gpus = static_cast<std::uint32_t>(random.below(4));
      needs.model = random.below(2) == 0 ? "a" : "b";
      job.shape = queue.intern(needs);
      queue.insert(job);
      jobs.joined(job.shape);
      plain.emplace(QueueKey{job.rank, job.id}, std::move(job));
    };
    for (std::uint64_t i = 1; i < 300; ++i) {
      if (plain.empty() || random.below(3) != 0) {
        Job job;
        job.id = JobId{i};
        job.rank = static_cast<Rank>(random.below(20));
        job.expected = seconds(random.below(50));
        join(std::move(job));
      } else {
        auto gone = plain.begin();
        std::advance(gone, static_cast<long>(random.below(plain.size())));
        Job job = std::move(gone->second);
        plain.erase(gone);
        queue.erase(job);
        jobs.left(job.shape);
        if (random.below(3) == 0) {
          join(std::move(job));  // as another kind, with the same place
        }
      }
      if (random.below(4) == 0) {
        continue;  // several changes at once
      }
      const Gap gap{static_cast<Amount>(random.below(5)) * kWholeShare, seconds(random.below(30)),
                    (static_cast<Amount>(random.below(4)) - 1) * kWholeShare};
      jobs.settle(queue);
      std::vector<JobId> met;
      BackfillQueue::Search search(jobs, queue, gap);
      while (const auto found = search.next()) {
        met.push_back(found->key.job);
      }
      ASSERT_EQ(jobs.empty(), plain.empty());
      ASSERT_EQ(met, met_by_a_loop(plain, queue, gap));
    }
  }
}

TEST(WindowOrder, ALongerJobHasALongerWindowButNotForEver) {
  Duration before{};
  for (const Duration length : std::initializer_list<Duration>{
           seconds(1), seconds(60), seconds(3600), seconds(86'400), seconds(86'400 * 365)}) {
    const Duration window = window_of(length);
    EXPECT_GT(window, before);
    EXPECT_LT(window, 20 * length);
    EXPECT_LT(window, std::chrono::hours(8 * 24));
    before = window;
  }
  EXPECT_EQ(window_of(kForever), window_of(std::chrono::hours(1)));
}

TEST(WindowOrder, PrioritiesComeFirstAndStayApart) {
  const WindowOrder order{std::chrono::hours(8 * 24)};
  Rank before = std::numeric_limits<Rank>::min();
  for (const std::int32_t priority :
       {-kMostPriority, -kMostPriority + 1, -1, 0, 1, kMostPriority}) {
    Job job;
    job.priority = priority;
    job.submitted = Time(std::chrono::hours(24 * 365 * 60));
    EXPECT_GT(order.rank(job), before);
    before = order.rank(job);
  }
}

TEST(Profile, FindsTheEarliestHole) {
  Profile profile(Time{}, 10);
  const auto at = [](int n) { return Time(seconds(n)); };
  profile.take(at(0), at(10), 6);
  profile.take(at(5), at(20), 4);
  // Free: 4 until 5, 0 until 10, 6 until 20, then 10.
  EXPECT_EQ(profile.earliest(at(0), seconds(5), 4), at(0));
  EXPECT_EQ(profile.earliest(at(0), seconds(6), 4), at(10));
  EXPECT_EQ(profile.earliest(at(0), seconds(6), 7), at(20));
  EXPECT_EQ(profile.earliest(at(12), seconds(100), 6), at(12));
  EXPECT_EQ(profile.earliest(at(0), seconds(1), 11), kNever);
  profile.forget_before(at(12));
  EXPECT_EQ(profile.earliest(at(12), seconds(1), 7), at(20));
}

TEST(Profile, MovesWhatHasItsPlaceAlready) {
  const auto at = [](int n) { return Time(seconds(n)); };
  Profile profile(Time{}, 10);
  profile.take(at(0), at(20), 8);
  profile.take(at(20), at(30), 10);
  profile.take(at(30), at(40), 5);  // the one to move: five for ten seconds
  EXPECT_EQ(profile.earlier(at(0), at(30), seconds(10), 5), at(30));
  profile.give(at(10), at(20), 8);
  EXPECT_EQ(profile.earlier(at(0), at(30), seconds(10), 5), at(10));
  EXPECT_EQ(profile.earlier(at(12), at(30), seconds(10), 5), at(30));
  // A hole that reaches to its place may be shorter than the job.
  profile.give(at(25), at(30), 10);
  EXPECT_EQ(profile.earlier(at(12), at(30), seconds(10), 5), at(25));
}

TEST(Profile, GivesBackWhatWasTaken) {
  const auto at = [](std::uint64_t n) { return Time(seconds(n)); };
  Random random(1);
  Profile profile(Time{}, 10);
  std::vector<Amount> plain(100, 10);  // free in each second
  const auto add = [&](std::uint64_t from, std::uint64_t until, Amount amount) {
    amount < 0 ? profile.take(at(from), at(until), -amount)
               : profile.give(at(from), at(until), amount);
    for (std::uint64_t i = from; i < until; ++i) {
      plain[i] += amount;
    }
  };
  for (int i = 0; i < 1000; ++i) {
    const std::uint64_t from = random.below(100);
    const std::uint64_t until = from + random.below(100 - from);
    const auto amount = static_cast<Amount>(random.below(4));
    add(from, until, amount - 2);
    EXPECT_EQ(profile.is_overdrawn(kNever), *std::min_element(plain.begin(), plain.end()) < 0);
    const auto fits = [&](Amount free) { return free >= 9; };
    const auto hole = std::find_if(plain.begin(), plain.end(), fits);
    const Time found = profile.earliest(at(0), seconds(1), 9);
    EXPECT_EQ(found,
              hole == plain.end() ? at(100) : at(static_cast<std::uint64_t>(hole - plain.begin())));
  }
}

TEST(RunningEnds, TellsWhenThereWillBeRoom) {
  RunningEnds ends;
  const auto add = [&](std::uint64_t id, std::uint32_t gpus, int length) {
    Job job;
    job.id = JobId{id};
    job.expected = seconds(length);
    Needs needs;
    needs.gpus = gpus;
    ends.add(job, needs, Time{});
  };
  add(1, 2, 30);
  add(2, 1, 10);
  add(3, 4, 20);
  EXPECT_EQ(ends.amount(), 7000);
  const auto shadow = ends.shadow(4000, 1000, Time{});
  EXPECT_EQ(shadow.when, Time(seconds(20)));
  EXPECT_EQ(shadow.spare, 2000);
  EXPECT_EQ(ends.shadow(9000, 1000, Time{}).when, kNever);
}

}  // namespace
}  // namespace berth
