// kill -9 at any moment: what was acknowledged is there, and nothing is torn.
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>

#include <chrono>

#include "base/fd.h"
#include "base/random.h"
#include "store/fixture.h"
#include "store/sqlite.h"

namespace berth {
namespace {

/// Submits, runs and forgets jobs for ever. After each commit it tells the newest id.
[[noreturn]] void work(const std::string& path, int pipe, std::uint64_t seed) {
  Result<std::unique_ptr<Store>> store = Store::open(path);
  if (!store) {
    ::_exit(3);
  }
  Random random(seed);
  for (;;) {
    const JobId first = (*store)->jobs().next_id();
    const auto count = static_cast<std::uint32_t>(1 + random.below(20));
    JobDescription job = job_named(std::to_string(first.value));
    job.command = std::string(random.below(4000), 'x');
    job.labels = {{"group", std::to_string(first.value)}};
    bool good =
        (*store)->jobs().insert(first, count, job, at(0)).has_value() &&
        (*store)->journal().append(at(0), Submit{{}, first, count, true}).has_value() &&
        (*store)->jobs().remember_token(0, std::to_string(first.value), {first, count}).has_value();
    // Every second job of the group runs and ends, in the same commit.
    for (std::uint32_t i = 0; i < count; i += 2) {
      const JobId id{first.value + i};
      const StoredAttempt attempt{id, 1, {"0"}, at(0), kNever, 0, "/log", "", {}};
      good = good && (*store)->attempts().begin(attempt).has_value() &&
             (*store)->jobs().end(id, ending(Outcome::Succeeded, at(1))).has_value();
    }
    if (!good || !(*store)->commit()) {
      ::_exit(4);
    }
    const std::uint64_t newest = first.value + count - 1;
    if (::write(pipe, &newest, sizeof newest) != sizeof newest) {
      ::_exit(5);
    }
  }
}

/// Whole groups only, and every table agrees with the others.
void check(Store& store, std::uint64_t acknowledged) {
  const std::uint64_t newest = store.jobs().next_id().value - 1;
  ASSERT_GE(newest, acknowledged);
  std::uint64_t covered = 0;
  std::uint64_t ended = 0;
  for (std::uint64_t from = 1; from < store.journal().next_entry();) {
    const std::vector<JournalEntry> entries = *store.journal().entries(from, 500);
    ASSERT_FALSE(entries.empty());
    for (const JournalEntry& entry : entries) {
      const auto& group = std::get<Submit>(entry.input);
      ASSERT_EQ(group.id.value, covered + 1);
      covered += group.count;
      ended += (group.count + 1) / 2;
      ASSERT_EQ((*store.jobs().find_token(0, std::to_string(group.id.value)))->count, group.count);
    }
    from = entries.back().number + 1;
  }
  ASSERT_EQ(covered, newest);
  EXPECT_EQ(store.jobs().counts()[static_cast<std::size_t>(JobPhase::Succeeded)], ended);
  EXPECT_EQ(store.jobs().counts()[static_cast<std::size_t>(JobPhase::Queued)], newest - ended);
}

TEST_F(StoreTest, KilledAtAnyMoment) {
  Random random(17);
  std::uint64_t acknowledged = 0;
  for (int round = 0; round < 30; ++round) {
    SCOPED_TRACE(round);
    int ends[2];
    ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
    const Fd reader(ends[0]);
    Fd writer(ends[1]);
    const pid_t child = ::fork();
    if (child == 0) {
      work(path_, writer.get(), random.next());
    }
    writer.reset();
    // Dies some microseconds after some acknowledgement, or before the first.
    const std::uint64_t enough = random.below(25);
    const auto moment = std::chrono::nanoseconds(random.below(3'000'000));
    std::uint64_t newest = 0;
    for (std::uint64_t i = 0; i < enough; ++i) {
      ASSERT_EQ(::read(reader.get(), &newest, sizeof newest), static_cast<ssize_t>(sizeof newest));
      acknowledged = newest;
    }
    const auto until = std::chrono::steady_clock::now() + moment;
    while (std::chrono::steady_clock::now() < until) {
    }
    ::kill(child, SIGKILL);
    while (::read(reader.get(), &newest, sizeof newest) == static_cast<ssize_t>(sizeof newest)) {
      acknowledged = newest;
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status)) << "the child gave up with " << WEXITSTATUS(status);
    open();
    check(*store_, acknowledged);
    if (::testing::Test::HasFatalFailure()) {
      return;
    }
    acknowledged = store_->jobs().next_id().value - 1;
    store_.reset();
    EXPECT_EQ(*Database::open(path_)->number("SELECT count(*) FROM pragma_integrity_check "
                                             "WHERE integrity_check = 'ok'"),
              1);
  }
  EXPECT_GT(acknowledged, 0u);
}

}  // namespace
}  // namespace berth
