// Files of the store that are deleted, replaced or cut off while it is open, or missing before.
#include <sys/stat.h>
#include <sys/wait.h>

#include <csignal>

#include "base/failpoint.h"
#include "store/fixture.h"
#include "store/redo_log.h"

namespace berth {
namespace {

class RescueTest : public StoreTest {
 protected:
  /// Opens it, and lets it write its files anew.
  Store& open_with_rescue() {
    open();
    store_->set_rescue(
        {[this] { return allowed_; }, [this](const std::string& what) { told_.push_back(what); }});
    return *store_;
  }
  JobId promise(const std::string& name) {
    const JobId id = add(*store_, job_named(name));
    EXPECT_OK(store_->commit());
    return id;
  }
  /// What a process finds that comes after a crash of this one, which it does not notice.
  std::vector<std::string> after_crash() {
    const std::string copy = folder_ + "-copy";
    std::filesystem::remove_all(copy);
    std::filesystem::copy(folder_, copy);
    std::vector<std::string> names;
    const Result<std::unique_ptr<Store>> found = Store::open(copy + "/berth.db");
    EXPECT_TRUE(found.has_value()) << found.error().message;
    for (std::uint64_t id = 1; found && id < (*found)->jobs().next_id().value; ++id) {
      const Result<JobRecord> job = (*found)->jobs().record(JobId{id});
      names.push_back(job ? job->description.name : "?");
    }
    std::filesystem::remove_all(copy);
    return names;
  }
  void remove(const std::string& ending) { std::filesystem::remove(path_ + ending); }

  Result<void> allowed_;
  std::vector<std::string> told_;
};

using Names = std::vector<std::string>;

TEST_F(RescueTest, EachFileAndAllOfThem) {
  open_with_rescue();
  promise("0");
  Names names = {"0"};
  const std::vector<std::vector<std::string>> cases = {{""},
                                                       {"-wal"},
                                                       {"-redo"},
                                                       {"", "-wal"},
                                                       {"", "-redo"},
                                                       {"-wal", "-redo"},
                                                       {"", "-wal", "-redo"}};
  for (const auto& gone : cases) {
    SCOPED_TRACE(fmt::format("{}", fmt::join(gone, " ")));
    for (const std::string& ending : gone) {
      ASSERT_TRUE(std::filesystem::exists(path_ + ending));
      remove(ending);
    }
    names.push_back(std::to_string(names.size()));
    promise(names.back());
    EXPECT_EQ(after_crash(), names);
    names.push_back(std::to_string(names.size()));
    promise(names.back());
    EXPECT_EQ(after_crash(), names);
  }
  EXPECT_EQ(told_.size(), cases.size());
  open();
  EXPECT_EQ(store_->jobs().next_id().value, names.size() + 1);
}

TEST_F(RescueTest, WhatIsTooLargeForTheRedoLog) {
  open_with_rescue();
  JobDescription large = job_named("large");
  large.command = std::string(std::size_t{5} << 20, 'x');
  remove("");
  add(*store_, large);
  EXPECT_OK(store_->commit());
  EXPECT_EQ(after_crash(), Names{"large"});
}

TEST_F(RescueTest, NothingToCommit) {
  open_with_rescue();
  promise("a");
  remove("");
  EXPECT_OK(store_->commit());
  EXPECT_FALSE(std::filesystem::exists(path_));
  store_->suspect_files();
  EXPECT_OK(store_->commit());
  EXPECT_EQ(after_crash(), Names{"a"});
}

TEST_F(RescueTest, AtTheEnd) {
  open_with_rescue();
  promise("a");
  add(*store_, job_named("not committed"));
  for (const char* ending : {"", "-wal", "-redo"}) {
    remove(ending);
  }
  open();
  EXPECT_EQ(store_->jobs().next_id(), JobId{2});
}

TEST_F(RescueTest, WithoutLeaveItOnlySaysSo) {
  open_with_rescue();
  promise("a");
  allowed_ = fail(ErrorCode::Refused, "another daemon runs here");
  std::ofstream(folder_ + "/other") << "somebody else's";
  std::filesystem::rename(folder_ + "/other", path_);
  add(*store_, job_named("b"));
  for (int i = 0; i < 2; ++i) {
    const Result<void> committed = store_->commit();
    ASSERT_FALSE(committed);
    EXPECT_EQ(committed.error().code, ErrorCode::Unavailable);
    EXPECT_NE(committed.error().message.find("another daemon runs here"), std::string::npos);
    EXPECT_TRUE(store_->out_of_reach());
    EXPECT_EQ(store_->jobs().record(JobId{2})->description.name, "b");
  }
  EXPECT_EQ(std::filesystem::file_size(path_), 15u);
  allowed_ = {};
  EXPECT_OK(store_->commit());
  EXPECT_FALSE(store_->out_of_reach());
  EXPECT_EQ(after_crash(), (Names{"a", "b"}));
  EXPECT_EQ(std::filesystem::file_size(path_ + ".1.found"), 15u);
}

TEST_F(RescueTest, AFolderThatComesBack) {
  open_with_rescue();
  promise("a");
  std::filesystem::rename(folder_, folder_ + "-moved");
  add(*store_, job_named("b"));
  EXPECT_FALSE(store_->commit());
  std::filesystem::rename(folder_ + "-moved", folder_);
  EXPECT_OK(store_->commit());
  EXPECT_EQ(after_crash(), (Names{"a", "b"}));
  EXPECT_TRUE(told_.empty());
}

TEST_F(RescueTest, CutOffInPlaceNothingIsBuiltOnIt) {
  open_with_rescue();
  for (int i = 0; i < 50; ++i) {
    promise("x");
  }
  std::filesystem::resize_file(path_, 0);
  add(*store_, job_named("y"));
  EXPECT_FALSE(store_->commit());
  EXPECT_TRUE(store_->out_of_reach());
  store_.reset();
  const Result<std::unique_ptr<Store>> opened = Store::open(path_);
  ASSERT_FALSE(opened);
  EXPECT_NE(opened.error().message.find("is empty"), std::string::npos);
}

/// A process that ends at each step of the rescue, by a signal that nobody can handle.
TEST_F(RescueTest, KilledMeanwhile) {
  for (const char* step : {"store.rescue_written", "store.rescue_named"}) {
    SCOPED_TRACE(step);
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directory(folder_);
    const pid_t child = ::fork();
    if (child == 0) {
      open_with_rescue();
      promise("a");
      set_failpoints(std::string(step) + "=kill");
      remove("");
      promise("b");
      ::_exit(0);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFSIGNALED(status));
    Result<std::unique_ptr<Store>> opened = Store::open(path_);
    if (!opened) {
      EXPECT_NE(opened.error().message.find("mv " + path_ + "-rescue " + path_), std::string::npos)
          << opened.error().message;
      std::filesystem::rename(path_ + "-rescue", path_);
      opened = Store::open(path_);
    }
    ASSERT_TRUE(opened) << opened.error().message;
    EXPECT_EQ((*opened)->jobs().next_id(), JobId{3});
  }
}

TEST_F(RescueTest, AMissingDatabaseWhoseLogsHaveSomething) {
  open();
  promise("a");
  const std::string copy = folder_ + "-copy";
  std::filesystem::copy(folder_, copy);
  for (const char* other : {"-wal", "-redo"}) {
    std::filesystem::remove(copy + "/berth.db");
    const Result<std::unique_ptr<Store>> opened = Store::open(copy + "/berth.db");
    ASSERT_FALSE(opened) << other;
    EXPECT_NE(opened.error().message.find("is missing"), std::string::npos);
    EXPECT_FALSE(std::filesystem::exists(copy + "/berth.db"));
    std::filesystem::remove(copy + "/berth.db" + other);
  }
  EXPECT_OK(Store::open(copy + "/berth.db"));
  std::filesystem::remove_all(copy);
  // One that was closed well has nothing in its logs.
  store_.reset();
  EXPECT_FALSE(RedoLog::holds_entries(path_));
  std::filesystem::remove(path_);
  open();
  EXPECT_EQ(store_->jobs().next_id(), JobId{1});
}

TEST_F(RescueTest, AFirstOpeningThatIsCutOff) {
  for (const char* step : {"store.created", "store.create_named"}) {
    const pid_t child = ::fork();
    if (child == 0) {
      set_failpoints(std::string(step) + "=kill");
      open();
      ::_exit(0);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFSIGNALED(status)) << step;
  }
  open();
  EXPECT_EQ(store_->jobs().next_id(), JobId{1});
  EXPECT_FALSE(std::filesystem::exists(path_ + "-new"));
}

}  // namespace
}  // namespace berth
