// Disks that fail: a full file system for real, and any write or sync failing by injection.
#include <sqlite3.h>
#include <sys/mount.h>

#include <cerrno>
#include <cstring>

#include "base/failpoint.h"
#include "base/random.h"
#include "store/fixture.h"
#include "store/sqlite.h"

namespace berth {
namespace {

/// Stands before SQLite's own door to the system while it lives, and fails when told to.
class FailingDisk {
 public:
  FailingDisk() {
    real_ = sqlite3_vfs_find(nullptr);
    own_ = *real_;
    own_.zName = "failing";
    own_.pNext = nullptr;
    own_.xOpen = open;
    sqlite3_vfs_register(&own_, 1);
    good_ = kAlways;
  }
  ~FailingDisk() {
    sqlite3_vfs_unregister(&own_);
    sqlite3_vfs_register(real_, 1);
  }
  FailingDisk(const FailingDisk&) = delete;
  FailingDisk& operator=(const FailingDisk&) = delete;

  /// From now on this many writes and syncs succeed, and then none.
  static void fail_after(int operations) { good_ = operations; }
  static void heal() { good_ = kAlways; }

 private:
  static constexpr int kAlways = 1 << 30;

  static bool fails() { return --good_ < 0; }

  static int open(sqlite3_vfs*, const char* name, sqlite3_file* file, int flags, int* out) {
    const int code = real_->xOpen(real_, name, file, flags, out);
    if (code == SQLITE_OK) {
      // The database is locked and logs are not, so that their methods differ; but both write and
      // sync alike.
      sqlite3_io_methods& altered = (flags & SQLITE_OPEN_MAIN_DB) != 0 ? database_ : log_;
      methods_ = file->pMethods;
      altered = *file->pMethods;
      altered.xWrite = write;
      altered.xSync = sync;
      file->pMethods = &altered;
    }
    return code;
  }
  static int write(sqlite3_file* file, const void* data, int size, sqlite3_int64 offset) {
    return fails() ? SQLITE_FULL : methods_->xWrite(file, data, size, offset);
  }
  static int sync(sqlite3_file* file, int flags) {
    return fails() ? SQLITE_IOERR_FSYNC : methods_->xSync(file, flags);
  }

  static inline sqlite3_vfs* real_ = nullptr;
  static inline sqlite3_vfs own_{};
  static inline const sqlite3_io_methods* methods_ = nullptr;
  static inline sqlite3_io_methods database_{};
  static inline sqlite3_io_methods log_{};
  static inline int good_ = kAlways;
};

/// A database whose redo log cannot be opened: every commit is SQLite's own.
void without_redo_log(const std::string& path) {
  std::filesystem::create_directory(path + "-redo");
}

std::int64_t count(const std::string& path, const char* sql) {
  return *Database::open(path)->number(sql);
}

TEST_F(StoreTest, AFailedCommitCanBeTriedAgain) {
  const FailingDisk disk;
  without_redo_log(path_);
  open();
  add(*store_, job_named("before"));
  ASSERT_TRUE(store_->commit());
  FailingDisk::fail_after(0);
  add(*store_, job_named("during"));
  ASSERT_TRUE(store_->journal().append(at(1), Submit{{}, JobId{2}}));
  for (int i = 0; i < 3; ++i) {
    const Result<void> failed = store_->commit();
    ASSERT_FALSE(failed);
    EXPECT_FALSE(failed.error().message.empty());
    // Reads still show what was accepted, and more is accepted.
    EXPECT_EQ(store_->jobs().record(JobId{2})->description.name, "during");
    EXPECT_EQ(add(*store_, job_named("more")).value, static_cast<std::uint64_t>(3 + i));
  }
  FailingDisk::heal();
  ASSERT_TRUE(store_->commit());
  open();
  EXPECT_EQ(store_->jobs().next_id(), JobId{6});
  EXPECT_EQ(store_->jobs().counts()[1], 5u);
  EXPECT_EQ(store_->journal().entries(1, 10)->size(), 1u);
}

TEST_F(StoreTest, AFailedCommitCanBeGivenUp) {
  const FailingDisk disk;
  without_redo_log(path_);
  open();
  add(*store_, job_named("before"));
  ASSERT_TRUE(store_->commit());
  FailingDisk::fail_after(1);
  add(*store_, job_named("during"));
  ASSERT_FALSE(store_->commit());
  store_->rollback();
  FailingDisk::heal();
  ASSERT_TRUE(store_->commit());
  EXPECT_EQ(store_->jobs().next_id(), JobId{2});
  add(*store_, job_named("after"));
  ASSERT_TRUE(store_->commit());
  open();
  EXPECT_EQ(store_->jobs().record(JobId{2})->description.name, "after");
}

/// Random work with a disk that comes and goes; sometimes the process "dies" while it is away.
TEST_F(StoreTest, NothingAcknowledgedIsLostWhereverTheDiskFails) {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directory(folder_);
    const FailingDisk disk;
    if (seed % 2 == 0) {
      without_redo_log(path_);
    }
    open();
    std::uint64_t acknowledged = 0;
    std::uint64_t perhaps = 0;  // given up, but on its way to the disk when that failed
    for (int round = 0; round < 20; ++round) {
      FailingDisk::fail_after(static_cast<int>(random.below(60)));
      for (std::uint64_t i = random.below(random.below(2) == 0 ? 4 : 200); i > 0; --i) {
        const JobId id = store_->jobs().next_id();
        JobDescription job = job_named(std::to_string(id.value));
        job.command = std::string(random.below(3000), 'x');
        ASSERT_TRUE(store_->jobs().insert(id, 1, job, at(0)));
        ASSERT_TRUE(store_->journal().append(at(0), Submit{{}, id}));
      }
      const std::uint64_t newest = store_->jobs().next_id().value - 1;
      perhaps = newest;
      if (store_->commit()) {
        acknowledged = newest;
      } else if (random.below(2) == 0) {
        FailingDisk::heal();
        ASSERT_TRUE(store_->commit());
        acknowledged = store_->jobs().next_id().value - 1;
      } else {
        store_->rollback();
        EXPECT_EQ(store_->jobs().next_id().value - 1, acknowledged);
      }
      if (random.below(3) == 0) {
        store_.reset();  // with the disk still away, perhaps
        FailingDisk::heal();
        open();
        const std::uint64_t found = store_->jobs().next_id().value - 1;
        ASSERT_TRUE(found == acknowledged || found == perhaps) << found;
        acknowledged = found;
        ASSERT_EQ(store_->jobs().counts()[1], acknowledged);
        ASSERT_EQ(store_->journal().next_entry() - 1, acknowledged);
      }
    }
    FailingDisk::heal();
    store_.reset();
    EXPECT_EQ(count(path_,
                    "SELECT count(*) FROM pragma_integrity_check "
                    "WHERE integrity_check = 'ok'"),
              1);
    EXPECT_EQ(count(path_, "SELECT count(*) FROM jobs"), static_cast<std::int64_t>(acknowledged));
  }
}

TEST_F(StoreTest, ARedoLogThatCannotBeWrittenFailsTheCommit) {
  open();
  add(*store_, job_named("before"));
  ASSERT_TRUE(store_->commit());
  set_failpoints("store.redo=errno:5*2");
  add(*store_, job_named("during"));
  EXPECT_FALSE(store_->commit());
  EXPECT_FALSE(store_->commit());
  ASSERT_TRUE(store_->commit());
  set_failpoints("store.redo=errno:5");
  add(*store_, job_named("given up"));
  EXPECT_FALSE(store_->commit());
  store_->rollback();
  set_failpoints("");
  EXPECT_EQ(store_->jobs().next_id(), JobId{3});
  EXPECT_EQ(store_->jobs().record(JobId{2})->description.name, "during");
  add(*store_, job_named("after"));
  ASSERT_TRUE(store_->commit());
  open();
  EXPECT_EQ(store_->jobs().next_id(), JobId{4});
  EXPECT_EQ(store_->jobs().record(JobId{3})->description.name, "after");
}

TEST_F(StoreTest, WhatWasWrittenAndCouldNotBeSyncedIsCommittedAgain) {
  open();
  add(*store_, job_named("before"));
  ASSERT_TRUE(store_->commit());
  add(*store_, job_named("first"));
  ASSERT_TRUE(store_->write());
  add(*store_, job_named("second"));
  ASSERT_TRUE(store_->write());
  set_failpoints("store.sync=errno:5*2");
  EXPECT_FALSE(store_->sync());
  EXPECT_FALSE(store_->commit());
  add(*store_, job_named("third"));
  ASSERT_TRUE(store_->commit());
  open();
  EXPECT_EQ(store_->jobs().next_id(), JobId{5});
  EXPECT_EQ(store_->jobs().record(JobId{2})->description.name, "first");
  EXPECT_EQ(store_->jobs().record(JobId{4})->description.name, "third");
}

TEST_F(StoreTest, AFullFileSystem) {
  if (::mount("tmpfs", folder_.c_str(), "tmpfs", 0, "size=2m") != 0) {
    GTEST_SKIP() << "needs root to mount a small file system: " << std::strerror(errno);
  }
  open();
  add(*store_, job_named("first"));
  ASSERT_TRUE(store_->commit());
  std::ofstream(folder_ + "/ballast") << std::string(1'000'000, 'x');
  Result<void> committed;
  std::uint64_t acknowledged = 1;
  for (int i = 0; i < 1000 && committed; ++i) {
    JobDescription job = job_named("x");
    job.command = std::string(5000, 'c');
    add(*store_, job);
    committed = store_->commit();
    if (committed) {
      acknowledged = store_->jobs().next_id().value - 1;
    }
  }
  EXPECT_FALSE(committed);
  if (!committed) {
    EXPECT_NE(committed.error().message.find("full"), std::string::npos)
        << committed.error().message;
  }
  EXPECT_FALSE(store_->commit());
  std::filesystem::remove(folder_ + "/ballast");
  EXPECT_TRUE(store_->commit());
  open();
  EXPECT_EQ(store_->jobs().next_id().value - 1, acknowledged + 1);
  store_.reset();
  EXPECT_EQ(::umount(folder_.c_str()), 0);
}

}  // namespace
}  // namespace berth
