// The checker of `berth selftest --chaos` must find what is wrong: each case forges one thing in an
// otherwise sound round.
#include "cli/selftest/chaos_ledger.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <functional>

namespace berth {
namespace {

using Kind = Finding::Kind;

/// Three jobs: one that succeeds, one that fails once and then dies by a signal, one that follows
/// the first.
struct Round {
  std::vector<ChaosJob> jobs;
  std::map<std::uint32_t, std::uint64_t> acknowledged = {{1, 11}, {2, 12}, {3, 13}};
  std::vector<JobOnRecord> records = {{11, 1, "succeeded", 0, std::nullopt, 1},
                                      {12, 2, "failed", std::nullopt, SIGKILL, 2},
                                      {13, 3, "failed", 4, std::nullopt, 1}};
  std::vector<LedgerLine> ledger = {
      {true, 1, 11, 1, {"0"}, 100, 10},  {true, 2, 12, 1, {"1"}, 101, 11},
      {false, 1, 11, 1, {"0"}, 100, 20}, {false, 2, 12, 1, {"1"}, 101, 21},
      {true, 2, 12, 2, {"0"}, 102, 22},  {true, 3, 13, 1, {"1"}, 103, 23},
      {false, 2, 12, 2, {"0"}, 102, 30}, {false, 3, 13, 1, {"1"}, 103, 31}};

  Round() : jobs(3) {
    for (std::uint32_t i = 0; i < 3; ++i) {
      jobs[i].number = i + 1;
    }
    jobs[1].failures = jobs[1].retries = 1;
    jobs[1].signal = SIGKILL;
    jobs[2].exit_code = 4;
    jobs[2].after = 1;
  }
  OrphanedAttempts orphaned = {};

  /// Its shim was killed; it went on to its end, of which nobody heard.
  void lose_first() {
    records[0] = {11, 1, "lost", std::nullopt, std::nullopt, 1};
    orphaned = {{11, 1}};
  }

  std::vector<Finding> check() const {
    return check_chaos(jobs, acknowledged, records, ledger, orphaned);
  }
};

struct Forgery {
  const char* name;
  Kind kind;
  std::function<void(Round&)> forge;
};

class ForgeryTest : public testing::TestWithParam<Forgery> {};

TEST_P(ForgeryTest, IsFound) {
  Round round;
  GetParam().forge(round);
  const std::vector<Finding> findings = round.check();
  EXPECT_TRUE(std::any_of(findings.begin(), findings.end(),
                          [](const Finding& finding) { return finding.kind == GetParam().kind; }));
}

INSTANTIATE_TEST_SUITE_P(
    All, ForgeryTest,
    testing::Values(
        Forgery{"NotOnRecord", Kind::Lost, [](Round& r) { r.records.erase(r.records.begin()); }},
        Forgery{"CalledLost", Kind::Lost, [](Round& r) { r.records[0].state = "lost"; }},
        Forgery{"LostWithAnotherShim", Kind::Lost,
                [](Round& r) {
                  r.records[0].state = "lost";
                  r.orphaned = {{11, 2}, {12, 1}};
                }},
        Forgery{
            "CancelledWithoutACause", Kind::Wrong,
            [](Round& r) { r.records[2] = {13, 3, "cancelled", std::nullopt, std::nullopt, 0}; }},
        Forgery{"RanAfterOneThatWasLost", Kind::Wrong,
                [](Round& r) {
                  r.lose_first();
                  r.jobs[2].when = Dependency::When::Ok;
                }},
        Forgery{"StubbornAndEndedByItself", Kind::Twice,
                [](Round& r) {
                  r.jobs[2].stubborn = true;
                  r.jobs[2].exit_code = 0;
                  r.jobs[2].signal = SIGKILL;
                  r.records[2] = {13, 3, "cancelled", std::nullopt, SIGKILL, 1};
                }},
        Forgery{"NeverStarted", Kind::Lost, [](Round& r) { r.ledger.erase(r.ledger.begin()); }},
        Forgery{"NeverEnded", Kind::Lost, [](Round& r) { r.ledger.pop_back(); }},
        Forgery{"StartedTwice", Kind::Twice,
                [](Round& r) {
                  r.ledger.push_back({true, 1, 11, 1, {"0"}, 104, 40});
                }},
        Forgery{"EndedTwice", Kind::Twice,
                [](Round& r) {
                  r.ledger.push_back({false, 1, 11, 1, {"0"}, 104, 40});
                }},
        Forgery{"OneAttemptTooMany", Kind::Twice,
                [](Round& r) {
                  r.ledger.push_back({true, 1, 11, 2, {"0"}, 104, 40});
                  r.ledger.push_back({false, 1, 11, 2, {"0"}, 104, 41});
                }},
        Forgery{"QueuedTwice", Kind::Twice,
                [](Round& r) {
                  r.records.push_back(r.records[0]);
                  r.records.back().id = 14;
                }},
        Forgery{"Stranger", Kind::Twice,
                [](Round& r) {
                  r.records.push_back({15, 0, "succeeded", 0, std::nullopt, 1});
                }},
        Forgery{"WrongCode", Kind::Wrong, [](Round& r) { r.records[2].exit_code = 5; }},
        Forgery{"NoCode", Kind::Wrong, [](Round& r) { r.records[0].exit_code.reset(); }},
        Forgery{"WrongSignal", Kind::Wrong, [](Round& r) { r.records[1].signal = SIGTERM; }},
        Forgery{"CodeForSignal", Kind::Wrong,
                [](Round& r) {
                  r.records[1].signal.reset();
                  r.records[1].exit_code = 0;
                }},
        Forgery{"WrongState", Kind::Wrong, [](Round& r) { r.records[0].state = "failed"; }},
        Forgery{"StillQueued", Kind::Wrong, [](Round& r) { r.records[0].state = "queued"; }},
        Forgery{"WrongAttempts", Kind::Wrong, [](Round& r) { r.records[1].attempt = 1; }},
        Forgery{"AnotherId", Kind::Wrong, [](Round& r) { r.records[0].id = 20; }},
        Forgery{"WithoutItsDevice", Kind::Wrong, [](Round& r) { r.ledger[0].devices.clear(); }},
        Forgery{"OutOfOrder", Kind::Wrong, [](Round& r) { r.ledger[5].time = 19; }},
        Forgery{"SharedDevice", Kind::Shared, [](Round& r) { r.ledger[4].time = 19; }}),
    [](const auto& tested) { return tested.param.name; });

void expect_sound(const Round& round) {
  for (const Finding& finding : round.check()) {
    ADD_FAILURE() << finding.text;
  }
}

TEST(ChaosLedger, ASoundRoundHasNoFindings) { expect_sound(Round()); }

TEST(ChaosLedger, AJobMayBeLostWithItsShimAndTakesThoseWithItThatWaitForItsSuccess) {
  Round round;
  round.lose_first();
  expect_sound(round);
  round.jobs[2].when = Dependency::When::Ok;
  round.records[2] = {13, 3, "cancelled", std::nullopt, std::nullopt, 0};
  std::erase_if(round.ledger, [](const LedgerLine& line) { return line.number == 3; });
  expect_sound(round);
}

TEST(ChaosLedger, AStubbornJobIsKilledByForce) {
  Round round;
  round.jobs[2].stubborn = true;
  round.jobs[2].exit_code = 0;
  round.jobs[2].signal = SIGKILL;
  round.records[2] = {13, 3, "cancelled", std::nullopt, SIGKILL, 1};
  round.ledger.pop_back();
  expect_sound(round);
}

TEST(ChaosLedger, LinesComeBackAsTheyWere) {
  const Round round;
  std::string text;
  for (const LedgerLine& line : round.ledger) {
    text += to_text(line);
  }
  text += to_text({true, 4, 14, 1, {}, 105, 50});
  text += to_text({true, 5, 15, 1, {"0", "1"}, 105, 50});
  const auto lines = parse_ledger(text);
  ASSERT_TRUE(lines.has_value());
  ASSERT_EQ(lines->size(), round.ledger.size() + 2);
  std::string again;
  for (const LedgerLine& line : *lines) {
    again += to_text(line);
  }
  EXPECT_EQ(again, text);
  EXPECT_EQ(lines->back().devices.size(), 2U);
  for (const char* torn : {"start 1", "start 1 2 3 0 5 6", "start 1 2 3 0 5\n",
                           "begin 1 2 3 0 5 6\n", "start 1 2 3 0 5 6start 1 2 3 0 5 6\n"}) {
    EXPECT_FALSE(parse_ledger(torn).has_value()) << torn;
  }
}

TEST(ChaosPlan, TheSameSeedGivesTheSameJobsAndOnlyPossibleOnes) {
  Random random(7);
  Random again(7);
  const auto batches = plan_chaos(300, random);
  const auto same = plan_chaos(300, again);
  ASSERT_EQ(batches.size(), same.size());
  std::vector<ChaosJob> earlier;
  for (std::size_t i = 0; i < batches.size(); ++i) {
    ASSERT_EQ(batches[i].size(), same[i].size());
    for (std::size_t k = 0; k < batches[i].size(); ++k) {
      const ChaosJob& job = batches[i][k];
      EXPECT_EQ(chaos_command(job, "berth", "l"), chaos_command(same[i][k], "berth", "l"));
      EXPECT_GE(job.retries, job.failures);
      EXPECT_LE(job.after, earlier.size());
      if (job.after != 0 && job.when != Dependency::When::Any) {
        EXPECT_EQ(job.when == Dependency::When::Ok, earlier[job.after - 1].succeeds());
      }
    }
    earlier.insert(earlier.end(), batches[i].begin(), batches[i].end());
  }
  EXPECT_EQ(earlier.size(), 300U);
  EXPECT_EQ(chaos_command(earlier[0], "it's", "l").substr(0, 15), "exec 'it'\\''s' ");
}

}  // namespace
}  // namespace berth
