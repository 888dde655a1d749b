// Jobs, attempts and tokens: what goes in comes out again, also after the file was closed.
#include "store/store.h"

#include <sys/stat.h>

#include <limits>

#include "base/random.h"
#include "store/fixture.h"
#include "store/sqlite.h"

namespace berth {
namespace {

using std::string_literals::operator""s;

JobDescription extreme_job() {
  JobDescription job;
  job.name = "naïve \0 名前 \xff\n"s;
  job.project = "π\0ρ"s;
  job.command = "printf 'a\0b'; exit 3"s;
  job.directory = "/tmp/with space";
  job.environment = {"A=", "", "=x", "EMOJI=🚢", "NUL=\0"s, std::string(100'000, 'x')};
  job.output = "/logs/%j-\0.out"s;
  job.error = "/logs/%j.err";
  job.labels = {{"", ""}, {"key", "value"}, {"k=e", "v\0"s}};
  job.sweep = "sweep/1";
  job.parameters = {{"lr", "1e-3"}, {"", "x"}};
  job.array_index = std::numeric_limits<std::uint32_t>::max();
  job.warning_signal = 64;
  job.spec.warn_before = Duration::max();
  job.spec.retry.when_lost = true;
  job.user = std::numeric_limits<uid_t>::max();
  job.spec.needs = {0,
                    1000,
                    Bytes{std::numeric_limits<std::int64_t>::max()},
                    ClaimSource::None,
                    "A10",
                    {"0", "GPU-1"},
                    {""},
                    {"x\0y"s},
                    std::numeric_limits<std::uint32_t>::max(),
                    100};
  job.spec.priority = -kMostPriority;
  job.spec.weight = std::numeric_limits<std::uint16_t>::max();
  job.spec.expected = Duration{0};
  job.spec.limit = Duration::min();
  job.spec.begin = Time::min();
  job.spec.retry = {65535, Duration::max(), false, true};
  job.spec.after = {{JobId{1}, Dependency::When::NotOk},
                    {JobId{std::numeric_limits<std::uint64_t>::max()}, Dependency::When::Any}};
  job.spec.held = true;
  return job;
}

TEST_F(StoreTest, EveryFieldComesBack) {
  const JobDescription plain;
  open();
  const JobId first = add(*store_, plain, Time{});
  const JobId second = add(*store_, extreme_job(), Time::max());
  ASSERT_TRUE(store_->commit());
  open();
  EXPECT_EQ(text(store_->jobs().record(first)->description), text(plain));
  const JobRecord record = *store_->jobs().record(second);
  EXPECT_EQ(text(record.description), text(extreme_job()));
  EXPECT_EQ(record.phase, JobPhase::Held);
  EXPECT_EQ(record.submitted, Time::max());
  EXPECT_EQ(record.not_before, Time::min());
  EXPECT_EQ(record.started, kNever);
  EXPECT_FALSE(record.ending);
  EXPECT_EQ(store_->jobs().record(JobId{3}).error().code, ErrorCode::NotFound);
}

TEST_F(StoreTest, RandomDescriptionsComeBack) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const auto word = [&] {
      std::string bytes(random.below(12), ' ');
      for (char& c : bytes) {
        c = static_cast<char>(random.below(256));
      }
      return bytes;
    };
    if (store_ == nullptr || random.below(20) == 0) {
      open();
    }
    JobDescription job;
    for (std::string* field : {&job.name, &job.project, &job.command, &job.directory, &job.output,
                               &job.error, &job.sweep, &job.spec.needs.model}) {
      *field = word();
    }
    for (std::uint64_t i = random.below(4); i > 0; --i) {
      job.environment.push_back(word());
      job.spec.needs.prefer.push_back(word());
      job.labels[word()] = word();
      job.parameters[word()] = word();
      job.spec.after.push_back({JobId{random.next()}, Dependency::When{2}});
    }
    job.spec.needs.memory = Bytes{static_cast<std::int64_t>(random.next())};
    job.spec.limit = Duration(static_cast<std::int64_t>(random.next()));
    const JobId id = add(*store_, job);
    EXPECT_EQ(text(store_->jobs().record(id)->description), text(job));
    ASSERT_TRUE(store_->commit());
  }
}

TEST_F(StoreTest, ArraysHaveIdsAndIndicesInARow) {
  open();
  JobDescription job = job_named("array");
  job.array_index = 5;
  ASSERT_TRUE(store_->jobs().insert(JobId{10}, 3, job, at(1)));
  EXPECT_EQ(store_->jobs().next_id(), JobId{13});
  for (std::uint32_t i = 0; i < 3; ++i) {
    EXPECT_EQ(store_->jobs().record(JobId{10 + i})->description.array_index, 5 + i);
  }
  EXPECT_EQ(store_->jobs().insert(JobId{12}, 1, job, at(1)).error().code, ErrorCode::Refused);
  EXPECT_EQ(store_->jobs().counts()[1], 3u);
}

TEST_F(StoreTest, AJobsLifeWithARetry) {
  open();
  const JobId id = add(*store_, job_named("life"));
  ASSERT_TRUE(store_->jobs().set_waiting(id, true, at(3)));
  EXPECT_EQ(store_->jobs().record(id)->phase, JobPhase::Held);
  ASSERT_TRUE(store_->jobs().set_waiting(id, false, at(4)));
  EXPECT_EQ(store_->jobs().record(id)->not_before, at(4));

  StoredAttempt first{id, 1, {"0", "GPU-\0x"s}, at(5), kNever, 0, "/logs/1.out", "/logs/1.err", {}};
  ASSERT_TRUE(store_->attempts().begin(first));
  EXPECT_EQ(store_->jobs().record(id)->phase, JobPhase::Starting);
  EXPECT_EQ(text(store_->attempts().of(id)->at(0)), text(first));
  first.pid = 4711;
  first.started = at(6);
  ASSERT_TRUE(store_->attempts().start(id, 1, first.pid, first.started));
  EXPECT_EQ(store_->jobs().record(id)->phase, JobPhase::Running);
  EXPECT_EQ(store_->jobs().record(id)->started, at(6));
  first.ending =
      Ending{Outcome::Oom, EndReason::Exited, 1, 9, at(9), gibibytes(7), std::chrono::seconds(6),
             12.5,         "out of memory"};
  ASSERT_TRUE(store_->attempts().end(id, 1, *first.ending));
  ASSERT_TRUE(store_->jobs().set_waiting(id, false, at(20)));
  JobSpec grown = store_->jobs().record(id)->description.spec;
  grown.needs.memory = gibibytes(8);
  grown.priority = 3;
  ASSERT_TRUE(store_->jobs().amend(id, grown, "renamed", "echo amended"));
  ASSERT_TRUE(store_->commit());

  StoredAttempt second{id, 2, {}, at(21), kNever, 0, "/logs/2.out", "", {}};
  second.ending = ending(Outcome::Failed, at(22));
  second.ending->reason = EndReason::NotStarted;
  second.ending->exit_code = std::numeric_limits<int>::min();
  second.ending->signal = std::numeric_limits<int>::max();
  ASSERT_TRUE(store_->attempts().begin(second));
  ASSERT_TRUE(store_->attempts().end(id, 2, *second.ending));
  ASSERT_TRUE(store_->jobs().end(id, *second.ending));
  ASSERT_TRUE(store_->commit());

  open();
  const JobRecord record = *store_->jobs().record(id);
  EXPECT_EQ(record.phase, JobPhase::Failed);
  EXPECT_EQ(record.attempt, 2);
  EXPECT_EQ(text(record.ending), text(second.ending));
  EXPECT_EQ(text(record.description.spec), text(grown));
  EXPECT_EQ(record.description.name, "renamed");
  EXPECT_EQ(record.description.command, "echo amended");
  const std::vector<StoredAttempt> attempts = *store_->attempts().of(id);
  ASSERT_EQ(attempts.size(), 2u);
  EXPECT_EQ(text(attempts[0]), text(first));
  EXPECT_EQ(text(attempts[1]), text(second));

  ASSERT_TRUE(store_->jobs().set_waiting(id, false, Time{}));  // a rerun
  EXPECT_FALSE(store_->jobs().record(id)->ending);
  EXPECT_EQ(store_->attempts().of(id)->size(), 2u);
}

TEST_F(StoreTest, WrongChangesAreRefusedAndLeaveNothing) {
  open();
  const JobId id = add(*store_, job_named("one"));
  const std::string before = text(*store_->jobs().record(id));
  const JobId none{77};
  EXPECT_EQ(store_->jobs().set_waiting(none, true, at(0)).error().code, ErrorCode::NotFound);
  EXPECT_EQ(store_->jobs().amend(none, {}, "", "").error().code, ErrorCode::NotFound);
  EXPECT_EQ(store_->attempts().begin({none, 1, {}, at(0), at(0), 0, "", "", {}}).error().code,
            ErrorCode::NotFound);
  EXPECT_EQ(store_->attempts().start(id, 1, 1, at(0)).error().code, ErrorCode::NotFound);
  EXPECT_EQ(store_->attempts().end(id, 1, {}).error().code, ErrorCode::NotFound);
  EXPECT_EQ(store_->jobs().end(none, {}).error().code, ErrorCode::NotFound);
  EXPECT_EQ(text(*store_->jobs().record(id)), before);
  ASSERT_TRUE(store_->attempts().begin({id, 1, {}, at(0), at(0), 0, "", "", {}}));
  EXPECT_EQ(store_->attempts().begin({id, 1, {}, at(0), at(0), 0, "", "", {}}).error().code,
            ErrorCode::Refused);
  EXPECT_EQ(store_->jobs().counts()[2], 1u);
  EXPECT_TRUE(store_->commit());
}

TEST_F(StoreTest, AnAttemptThatWasTakenBackBeginsAnew) {
  open();
  const JobId id = add(*store_, job_named("one"));
  ASSERT_TRUE(store_->attempts().begin({id, 1, {"a"}, at(0), at(0), 0, "first", "", {}}));
  ASSERT_TRUE(store_->jobs().set_waiting(id, false, Time{}));
  ASSERT_TRUE(store_->attempts().begin({id, 1, {"b"}, at(5), at(0), 0, "second", "", {}}));
  ASSERT_EQ(store_->attempts().of(id)->size(), 1u);
  EXPECT_EQ(store_->attempts().of(id)->front().stdout_path, "second");
  ASSERT_TRUE(store_->attempts().start(id, 1, 7, at(6)));
  ASSERT_TRUE(store_->jobs().set_waiting(id, false, Time{}));
  EXPECT_EQ(store_->attempts().begin({id, 1, {}, at(7), at(0), 0, "", "", {}}).error().code,
            ErrorCode::Refused)
      << "it has run";
}

TEST_F(StoreTest, LiveJobsInOrder) {
  open();
  std::vector<std::uint64_t> expected;
  for (std::uint64_t i = 1; i <= 100; ++i) {
    JobDescription job = i % 10 == 0 ? extreme_job() : job_named("x");
    const JobId id = add(*store_, job, at(static_cast<std::int64_t>(i)));
    if (i % 3 == 0) {
      ASSERT_TRUE(store_->jobs().end(id, ending(Outcome::Lost, at(1))));
    } else {
      expected.push_back(i);
    }
  }
  ASSERT_TRUE(store_->attempts().begin({JobId{50}, 1, {"3", "4"}, at(5), kNever, 0, "", "", {}}));
  ASSERT_TRUE(store_->attempts().start(JobId{50}, 1, 9, at(6)));
  ASSERT_TRUE(store_->attempts().set_stopping(JobId{50}, Stopping::TimeLimit));
  ASSERT_TRUE(store_->attempts().begin({JobId{98}, 1, {}, at(5), kNever, 0, "", "", {}}));
  ASSERT_TRUE(store_->attempts().set_stopping(JobId{98}, Stopping::Cancelled));
  ASSERT_TRUE(store_->attempts().end(JobId{98}, 1, ending(Outcome::Failed, at(6))));
  ASSERT_TRUE(store_->jobs().set_waiting(JobId{98}, false, Time{}));  // what was asked is done with
  ASSERT_TRUE(store_->commit());
  const auto check = [&] {
    std::vector<std::uint64_t> seen;
    ASSERT_TRUE(store_->jobs().for_each_live([&](const LiveJob& job) {
      seen.push_back(job.id.value);
      EXPECT_EQ(text(job.spec), text(job.id.value % 10 == 0 ? extreme_job().spec : JobSpec{}));
      EXPECT_EQ(job.submitted, at(static_cast<std::int64_t>(job.id.value)));
      EXPECT_EQ(job.devices.size(), job.id.value == 50 ? 2u : 0u);
      EXPECT_EQ(job.attempt, job.id.value == 50 || job.id.value == 98 ? 1 : 0);
      EXPECT_EQ(job.stopping, job.id.value == 50 ? Stopping::TimeLimit : Stopping::No);
      EXPECT_EQ(job.started, job.id.value == 50 ? at(6) : kNever);
    }));
    EXPECT_EQ(seen, expected);
  };
  check();
  open();
  check();
  // With few of many left, the index is used instead: the same answer.
  for (std::uint64_t i = 1; i <= 100; ++i) {
    if (i % 3 != 0 && i != 50 && i != 98) {
      ASSERT_TRUE(store_->jobs().end(JobId{i}, ending(Outcome::Succeeded, at(1))));
    }
  }
  expected = {50, 98};
  check();
}

TEST_F(StoreTest, TokensFindTheirSubmission) {
  open();
  ASSERT_TRUE(store_->jobs().insert(JobId{1}, 5, job_named("x"), at(0)));
  ASSERT_TRUE(store_->jobs().remember_token(1000, "tok\0en"s, {JobId{1}, 5}));
  ASSERT_TRUE(store_->commit());
  open();
  const std::optional<Submission> found = *store_->jobs().find_token(1000, "tok\0en"s);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->first, JobId{1});
  EXPECT_EQ(found->count, 5u);
  EXPECT_FALSE(*store_->jobs().find_token(1001, "tok\0en"s));
  EXPECT_FALSE(*store_->jobs().find_token(1000, "tok"));
  EXPECT_EQ(store_->jobs().remember_token(1000, "tok\0en"s, {JobId{6}, 1}).error().code,
            ErrorCode::Refused);
  ASSERT_TRUE(store_->jobs().remember_token(1001, "tok\0en"s, {JobId{6}, 1}));
}

TEST_F(StoreTest, CountsFollowEveryMove) {
  open();
  Random random(7);
  for (int i = 0; i < 2000; ++i) {
    const JobId some{1 + random.below(store_->jobs().next_id().value)};
    switch (random.below(6)) {
      case 0:
        add(*store_, job_named("x"));
        break;
      case 1:
        (void)store_->jobs().set_waiting(some, random.below(2) == 0, at(i)).has_value();
        break;
      case 2: {
        const auto outcome = static_cast<Outcome>(random.below(6));
        (void)store_->jobs().end(some, ending(outcome, at(i))).has_value();
        break;
      }
      case 3:
        EXPECT_OK(store_->jobs().forget({at(i - 100), {}, 3}));
        break;
      case 4:
        if (random.below(5) == 0) {
          store_->rollback();
        } else {
          EXPECT_OK(store_->commit());
        }
        break;
      default:
        if (random.below(20) == 0) {
          EXPECT_OK(store_->commit());
          open();
        }
    }
    if (i % 50 == 0) {
      PhaseCounts counted{};
      JobQuery all;
      all.limit = 5000;
      const Result<JobPage> page = store_->jobs().list(all);
      ASSERT_TRUE(page.has_value()) << page.error().message;
      for (const JobRecord& job : page->jobs) {
        ++counted[static_cast<std::size_t>(job.phase)];
      }
      ASSERT_EQ(counted, store_->jobs().counts());
    }
  }
}

TEST_F(StoreTest, ForgettingTellsTheAttemptsAndCleansUp) {
  open();
  for (std::int64_t i = 1; i <= 4; ++i) {
    JobDescription job = job_named("x");
    job.environment = {"ONLY=" + std::to_string(i)};
    job.labels = {{"n", std::to_string(i)}};
    const JobId id = add(*store_, job);
    const std::string log = "/logs/" + std::to_string(i);
    ASSERT_TRUE(store_->jobs().remember_token(0, log, {id, 1}));
    ASSERT_TRUE(store_->attempts().begin({id, 1, {}, at(0), at(0), 0, log, "", {}}));
    ASSERT_TRUE(store_->jobs().set_waiting(id, false, at(0)));
    ASSERT_TRUE(store_->attempts().begin({id, 2, {}, at(0), at(0), 0, log + ".2", log + ".e", {}}));
    if (i != 4) {
      ASSERT_TRUE(store_->jobs().end(
          id, ending(i == 2 ? Outcome::Failed : Outcome::Succeeded, at(10 - i))));
    }
  }
  ASSERT_TRUE(store_->commit());
  // Job 3 ended at 7, job 2 failed at 8, job 1 ended at 9; job 4 has not.
  const Forgotten none = *store_->jobs().forget({at(7), {}, 100});
  EXPECT_TRUE(none.jobs.empty());
  const Forgotten one = *store_->jobs().forget({kNever, {JobPhase::Succeeded}, 1});
  EXPECT_EQ(one.jobs, std::vector{JobId{3}});
  const uid_t user = job_named("x").user;
  EXPECT_EQ(one.attempts, (std::vector{ForgottenAttempt{JobId{3}, 1, user},
                                       ForgottenAttempt{JobId{3}, 2, user}}));
  const Forgotten rest = *store_->jobs().forget({kNever, {}, 100});
  EXPECT_EQ(rest.jobs, (std::vector{JobId{2}, JobId{1}}));
  ASSERT_TRUE(store_->commit());
  EXPECT_FALSE(store_->jobs().record(JobId{1}));
  EXPECT_TRUE(store_->attempts().of(JobId{1})->empty());
  EXPECT_FALSE(*store_->jobs().find_token(0, "/logs/1"));
  EXPECT_EQ(store_->jobs().next_id(), JobId{5});
  EXPECT_EQ(store_->jobs().record(JobId{4})->description.environment, std::vector{"ONLY=4"s});
  EXPECT_TRUE(store_->jobs().forget({kNever, {JobPhase::Running}, 100})->jobs.empty());

  store_.reset();
  Database database = *Database::open(path_);
  for (const char* table : {"jobs", "details", "labels", "tokens"}) {
    EXPECT_EQ(*database.number(fmt::format("SELECT count(*) FROM {}", table)), 1) << table;
  }
  // Its environment, directory, needs and label; nothing of the others.
  EXPECT_EQ(*database.number("SELECT count(*) FROM shared"), 4);
  EXPECT_EQ(*database.number("SELECT sum(uses) FROM shared"), 4);
}

TEST_F(StoreTest, AMillionJobsWouldShareOneEnvironment) {
  open();
  for (int i = 0; i < 50; ++i) {
    add(*store_, job_named(std::to_string(i)));
    if (i % 10 == 0) {
      ASSERT_TRUE(store_->commit());
      open();
    }
  }
  ASSERT_TRUE(store_->commit());
  store_.reset();
  EXPECT_EQ(*Database::open(path_)->number("SELECT count(DISTINCT environment) FROM details"), 1);
  EXPECT_EQ(*Database::open(path_)->number("SELECT max(uses) FROM shared"), 50);
}

TEST_F(StoreTest, SmallJobsAreSmallOnDisk) {
  open();
  for (int i = 0; i < 10'000; ++i) {
    JobDescription job = job_named("train-" + std::to_string(i));
    job.command = "python train.py --learning-rate 0.001 --seed " + std::to_string(i);
    job.project = "vision";
    const JobId id = add(*store_, job);
    ASSERT_TRUE(store_->journal().append(at(i), Submit{{}, id}));
    ASSERT_TRUE(store_->jobs().remember_token(0, fmt::format("{:032}", i), {id, 1}));
  }
  ASSERT_TRUE(store_->commit());
  store_.reset();
  EXPECT_LE(std::filesystem::file_size(path_), 350u * 10'000);
}

TEST_F(StoreTest, RollbackUndoesTheGroupAndNoMore) {
  open();
  add(*store_, job_named("kept"));
  ASSERT_TRUE(store_->commit());
  add(*store_, job_named("lost"));
  ASSERT_TRUE(store_->jobs().end(JobId{1}, ending(Outcome::Failed, at(1))));
  store_->rollback();
  EXPECT_EQ(store_->jobs().next_id(), JobId{2});
  EXPECT_EQ(store_->jobs().record(JobId{1})->phase, JobPhase::Queued);
  EXPECT_FALSE(store_->jobs().record(JobId{2}));
  add(*store_, job_named("again"));
  ASSERT_TRUE(store_->commit());
  open();
  EXPECT_EQ(store_->jobs().record(JobId{2})->description.name, "again");
}

TEST_F(StoreTest, WhatWasNotCommittedIsGone) {
  open();
  add(*store_, job_named("x"));
  open();
  EXPECT_EQ(store_->jobs().next_id(), JobId{1});
}

TEST_F(StoreTest, TheFilesAreForTheirUserAlone) {
  const mode_t before = ::umask(0);
  open();
  add(*store_, job_named("x"));
  ASSERT_TRUE(store_->commit());
  ::umask(before);
  for (const auto& file : std::filesystem::directory_iterator(folder_)) {
    struct stat status {};
    ASSERT_EQ(::stat(file.path().c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777, 0600u) << file.path();
  }
}

}  // namespace
}  // namespace berth
