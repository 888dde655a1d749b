// The largest, the smallest and the oddest that can be said of a job: stored as it is, or refused.
#include <limits>

#include "store/fixture.h"

namespace berth {
namespace {

constexpr auto kLeast = std::numeric_limits<std::int64_t>::min();
constexpr auto kMost = std::numeric_limits<std::int64_t>::max();

TEST_F(StoreTest, TextsOfEveryKind) {
  open();
  const std::string odd = {'a', '\0', 'b', '\n', '\xff', '\xc3', '\x28', '\''};
  JobDescription job = job_named(odd);
  job.command = job.directory = job.project = job.sweep = job.output = job.error = odd;
  job.labels = {{odd, odd}, {"", ""}};
  job.parameters = {{"", odd}};
  job.environment = {odd, "", odd};
  job.spec.needs.model = odd;
  job.spec.needs.only = {odd, ""};
  add(*store_, job);
  EXPECT_OK(store_->jobs().remember_token(0, odd, Submission{JobId{1}, 1}));
  EXPECT_OK(store_->jobs().remember_token(1, odd, Submission{JobId{2}, 1}));
  EXPECT_OK(store_->commit());
  for (int i = 0; i < 2; ++i) {  // from the redo log, then from the tables
    open();
    const Result<JobRecord> found = store_->jobs().record(JobId{1});
    ASSERT_TRUE(found);
    EXPECT_EQ(found->description.name, odd);
    EXPECT_EQ(found->description.command, odd);
    EXPECT_EQ(found->description.environment, job.environment);
    EXPECT_EQ(found->description.labels, job.labels);
    EXPECT_EQ(found->description.spec.needs.only, job.spec.needs.only);
    EXPECT_TRUE((*store_->jobs().find_token(0, odd)).has_value());
    EXPECT_FALSE((*store_->jobs().find_token(0, "a")).has_value());
  }
}

TEST_F(StoreTest, NumbersAtTheirEnds) {
  open();
  for (const std::int64_t extreme : {kLeast, std::int64_t{-1}, std::int64_t{0}, kMost}) {
    SCOPED_TRACE(extreme);
    JobDescription job = job_named("x");
    job.spec.expected = job.spec.limit = job.spec.warn_before = Duration(extreme);
    job.spec.begin = Time(Duration(extreme));
    job.spec.needs.memory = Bytes{extreme};
    job.user = std::numeric_limits<uid_t>::max();
    const JobId id = store_->jobs().next_id();
    EXPECT_OK(store_->jobs().insert(id, 1, job, Time(Duration(extreme))));
    EXPECT_OK(store_->journal().append(Time(Duration(extreme)), Submit{{}, id}));
    StoredAttempt attempt;
    attempt.job = id;
    attempt.attempt = std::numeric_limits<std::uint16_t>::max();
    attempt.begun = Time(Duration(extreme));
    EXPECT_OK(store_->attempts().begin(attempt));
    EXPECT_OK(store_->attempts().start(id, attempt.attempt, 1, Time(Duration(extreme))));
    Ending ending;
    ending.ended = Time(Duration(extreme));
    ending.gpu_time = Duration(extreme);
    ending.energy = std::numeric_limits<double>::quiet_NaN();
    ending.exit_code = std::numeric_limits<int>::min();
    EXPECT_OK(store_->attempts().end(id, attempt.attempt, ending));
    EXPECT_OK(store_->jobs().end(id, ending));
    EXPECT_OK(store_->commit());
    EXPECT_EQ(store_->jobs().record(id)->submitted, Time(Duration(extreme)));
  }
  const auto jobs = store_->jobs().next_id().value;
  open();
  EXPECT_EQ(store_->jobs().next_id().value, jobs);
  EXPECT_EQ(store_->attempts().of(JobId{1})->size(), 1u);
}

TEST_F(StoreTest, IdsBeyondEveryJob) {
  open();
  add(*store_, job_named("x"));
  for (const std::uint64_t id :
       {std::uint64_t{0}, std::uint64_t{1} << 63, std::numeric_limits<std::uint64_t>::max()}) {
    EXPECT_FALSE(store_->jobs().record(JobId{id}));
    EXPECT_FALSE(store_->jobs().set_waiting(JobId{id}, false, {}));
    EXPECT_FALSE(store_->jobs().end(JobId{id}, {}));
  }
  EXPECT_OK(store_->commit());
  EXPECT_EQ(store_->jobs().counts()[1], 1u);
}

/// What is refused leaves nothing behind, and what is not may be larger than the redo log.
TEST_F(StoreTest, AsLargeAsItMayBe) {
  open();
  const auto sized = [](std::size_t size) {
    JobDescription job = job_named("large");
    job.command = std::string(size, 'x');
    return job;
  };
  for (const std::size_t size : {std::size_t{1} << 21, std::size_t{30} << 20}) {
    const JobDescription job = sized(size);
    const JobId id = store_->jobs().next_id();
    EXPECT_OK(store_->jobs().insert(id, 1, job, at(0)));
    EXPECT_OK(store_->commit());
    EXPECT_EQ(store_->jobs().record(id)->description.command.size(), size);
  }
  std::vector<JobDescription> wrong(4, job_named("too large"));
  wrong[0].command = std::string(std::size_t{65} << 20, 'x');
  wrong[1].name = wrong[0].command;
  wrong[2].labels["a"] = wrong[0].command;
  wrong[3].environment = {wrong[0].command};
  for (const JobDescription& job : wrong) {
    const auto environment = JobTable::share_environment(job.environment);
    EXPECT_FALSE(JobTable::check(job, environment));
    EXPECT_FALSE(store_->jobs().insert(store_->jobs().next_id(), 1, job, at(0)));
  }
  EXPECT_OK(store_->commit());
  open();
  EXPECT_EQ(store_->jobs().next_id(), JobId{3});
  EXPECT_EQ(store_->jobs().counts()[1], 2u);
}

}  // namespace
}  // namespace berth
