// Files that the store must not touch, and files of older versions that it must read for ever.
#include <fcntl.h>
#include <sys/wait.h>

#include "store/fixture.h"
#include "store/schema.h"

namespace berth {
namespace {

const int kPresent = static_cast<int>(migration_steps().size());  // the version of this berth

class RefusalTest : public StoreTest {
 protected:
  void write(const std::string& bytes) const {
    std::ofstream(path_, std::ios::binary | std::ios::trunc) << bytes;
  }

  /// A sound database with a few hundred jobs, as bytes.
  std::string sound() {
    open();
    for (int i = 0; i < 300; ++i) {
      add(*store_, job_named("job " + std::to_string(i)));
    }
    EXPECT_OK(store_->commit());
    store_.reset();
    return contents(path_);
  }

  /// The message of the refusal; checks that the file stays as it is and that nothing appears
  /// beside it.
  std::string refused() {
    const std::string before = contents(path_);
    const Result<std::unique_ptr<Store>> opened = Store::open(path_);
    EXPECT_FALSE(opened.has_value());
    EXPECT_TRUE(contents(path_) == before) << "the file was changed";
    EXPECT_FALSE(std::filesystem::exists(path_ + "-journal"));
    const std::string message = opened ? "" : opened.error().message;
    EXPECT_NE(message.find(path_), std::string::npos) << message;
    return message;
  }

  static void expect_part(const std::string& message, std::string_view part) {
    EXPECT_NE(message.find(part), std::string::npos) << message;
  }
};

TEST_F(RefusalTest, NotADatabase) {
  for (const std::string& bytes : {std::string("x"), std::string("my notes\n"),
                                   std::string(10'000, '\0'), std::string(5000, 'S')}) {
    write(bytes);
    const std::string message = refused();
    expect_part(message, "is not a database");
    expect_part(message, "move it away");
  }
}

TEST_F(RefusalTest, Malformed) {
  const std::string good = sound();
  write(good.substr(0, good.size() / 2));
  expect_part(refused(), "malformed");
  std::string bad = good;
  std::fill(bad.begin() + 100, bad.begin() + 4096, '\x5a');  // the page of the schema
  write(bad);
  expect_part(refused(), "malformed");
  write(good.substr(0, 100));
  refused();
  write(good);
  open();
  EXPECT_EQ(store_->jobs().next_id(), JobId{301});
}

TEST_F(RefusalTest, AnotherProgramsDatabase) {
  write("");
  EXPECT_OK(Database::open(path_)->execute("CREATE TABLE t(x); INSERT INTO t VALUES(1)"));
  expect_part(refused(), "another program");
}

TEST_F(RefusalTest, ANewerVersion) {
  sound();
  EXPECT_OK(Database::open(path_)->execute("PRAGMA user_version = 77"));
  std::filesystem::remove(path_ + "-wal");
  const std::string message = refused();
  expect_part(message, fmt::format("format 77; this berth knows up to {}", kPresent));
  expect_part(message, "upgrade berth");
}

TEST_F(RefusalTest, ANewerVersionThatIsStillInTheLog) {
  sound();
  {
    Database database = *Database::open(path_);
    database.merge_log_on_close(false);
    EXPECT_OK(database.execute("PRAGMA user_version = 77"));
  }
  const std::string log = contents(path_ + "-wal");
  ASSERT_FALSE(log.empty());
  expect_part(refused(), "format 7");
  EXPECT_TRUE(contents(path_ + "-wal") == log);
}

TEST_F(RefusalTest, WhatIsNotAFile) {
  std::filesystem::create_directory(path_);
  const Result<std::unique_ptr<Store>> opened = Store::open(path_);
  ASSERT_FALSE(opened);
  EXPECT_NE(opened.error().message.find(path_), std::string::npos);
  EXPECT_FALSE(Store::open(folder_ + "/no/such/folder/berth.db"));
}

TEST_F(RefusalTest, AFileThatAnotherProcessHolds) {
  open();
  add(*store_, job_named("x"));
  const pid_t child = ::fork();
  if (child == 0) {
    // Nothing inherited may be touched here, so the other process looks with its own eyes only.
    const Result<std::unique_ptr<Store>> opened = Store::open(path_);
    const bool right = !opened && opened.error().code == ErrorCode::Unavailable &&
                       opened.error().message.find("another berth daemon") != std::string::npos;
    ::_exit(right ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(store_->commit());
}

// --- versions

/// What databases/v1.db holds. That file was made by these calls once and is never made again.
void fill_version_1(Store& store) {
  JobDescription job = job_named("first");
  job.project = "vision";
  job.labels = {{"team", "a"}};
  job.sweep = "s1";
  job.parameters = {{"lr", "0.1"}};
  job.output = "/logs/%j.out";
  job.spec.needs.memory = gibibytes(8);
  job.spec.needs.only = {"0", "1"};
  job.spec.retry.most = 2;
  job.array_index = 0;
  ASSERT_TRUE(store.jobs().insert(JobId{1}, 3, job, at(0)));
  JobDescription follower = job_named("after");
  follower.spec.after = {{JobId{1}, Dependency::When::Ok}};
  follower.spec.held = true;
  ASSERT_TRUE(store.jobs().insert(JobId{4}, 1, follower, at(1)));
  ASSERT_TRUE(store.jobs().remember_token(1000, "token", {JobId{1}, 3}));
  ASSERT_TRUE(
      store.journal().append(at(0), DeviceAdded{{"0", "GPU-0", "A100", gibibytes(40), {}}}));
  ASSERT_TRUE(store.journal().append(at(0), Submit{{}, JobId{1}, 3}));
  ASSERT_TRUE(
      store.attempts().begin({JobId{1}, 1, {"0"}, at(2), kNever, 0, "/logs/1.out", "", {}}));
  ASSERT_TRUE(store.attempts().start(JobId{1}, 1, 99, at(3)));
  ASSERT_TRUE(
      store.attempts().begin({JobId{2}, 1, {"1"}, at(2), kNever, 0, "/logs/2.out", "", {}}));
  Ending end = ending(Outcome::Oom, at(9));
  end.peak = gibibytes(9);
  end.energy = 1.5;
  ASSERT_TRUE(store.attempts().end(JobId{2}, 1, end));
  ASSERT_TRUE(store.jobs().end(JobId{2}, end));
  ASSERT_TRUE(store.journal().append(at(9), JobExited{JobId{2}, 1, 0, true}));
  ASSERT_TRUE(store.commit());
}

/// Everything in the store but the journal, in words.
std::string whole(Store& store) {
  std::string all;
  const JobPage page = *store.jobs().list({});
  for (const JobRecord& listed : page.jobs) {
    all += text(*store.jobs().record(listed.id)) + "\n";
    const std::vector<StoredAttempt> attempts = *store.attempts().of(listed.id);
    for (const StoredAttempt& attempt : attempts) {
      all += text(attempt) + "\n";
    }
  }
  const std::optional<Submission> token = *store.jobs().find_token(1000, "token");
  all += fmt::format("token {}\n", token ? token->first.value : 0);
  return all + fmt::format("{} next {}\n", store.jobs().counts(), store.jobs().next_id().value);
}

TEST_F(RefusalTest, VersionOneOpensForEver) {
  const std::string kept = BERTH_TESTS_DIR "/store/databases/v1.db";
  fill_version_1(open());
  const std::string expected = whole(*store_);
  store_.reset();
  std::filesystem::copy_file(kept, path_, std::filesystem::copy_options::overwrite_existing);
  open();
  EXPECT_EQ(whole(*store_), expected);
  // Of a journal before version 8 the time of the last entry is left.
  const std::vector<JournalEntry> journal = *store_->journal().entries(1, 100);
  ASSERT_EQ(journal.size(), 1U);
  EXPECT_EQ(journal[0].number, 3U);
  EXPECT_EQ(journal[0].time, at(9));
  EXPECT_TRUE(std::holds_alternative<Stepped>(journal[0].input));
  EXPECT_EQ(store_->journal().next_entry(), 4U);
  add(*store_, job_named("new"));
  EXPECT_TRUE(store_->commit());
}

Result<void> add_colour(Database& database) {
  return database.execute("ALTER TABLE jobs ADD COLUMN colour TEXT DEFAULT 'red'");
}
Result<void> fails(Database& database) {
  EXPECT_OK(database.execute("CREATE TABLE half_done(x)"));
  return database.execute("no such statement");
}

TEST_F(RefusalTest, OlderVersionsAreBroughtUpToDate) {
  sound();
  std::vector<MigrationStep> steps(migration_steps().begin(), migration_steps().end());
  steps.push_back(add_colour);
  {
    Result<Database> database = open_database(path_, steps);
    ASSERT_TRUE(database) << database.error().message;
    EXPECT_EQ(*database->number("SELECT count(*) FROM jobs WHERE colour = 'red'"), 300);
    EXPECT_EQ(*database->number("PRAGMA user_version"), kPresent + 1);
    // Already in the header, should the machine stop now.
    EXPECT_EQ(contents(path_).at(63), kPresent + 1);
  }
  expect_part(refused(),
              fmt::format("format {}; this berth knows up to {}", kPresent + 1, kPresent));
}

TEST_F(RefusalTest, AStepThatFailsChangesNothing) {
  sound();
  std::vector<MigrationStep> steps(migration_steps().begin(), migration_steps().end());
  steps.insert(steps.end(), {add_colour, fails});
  const std::string before = contents(path_);
  EXPECT_FALSE(open_database(path_, steps));
  EXPECT_TRUE(contents(path_) == before);
  open();
  EXPECT_EQ(store_->jobs().next_id(), JobId{301});
}

}  // namespace
}  // namespace berth
