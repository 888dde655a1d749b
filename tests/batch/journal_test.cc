#include "batch/journal.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>

#include "base/failpoint.h"
#include "base/read_file.h"

namespace berth {
namespace {

class Journals : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = testing::TempDir() + "berth-journal-XXXXXX";
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
    path_ = folder_ + "/t.csv.berth";
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  Result<BatchJournal> open() const { return BatchJournal::open(path_); }
  std::string text() const { return *read_file(path_); }
  void append(const std::string& bytes) const {
    std::ofstream(path_, std::ios::app | std::ios::binary) << bytes;
  }

  std::string folder_;
  std::string path_;
};

TEST_F(Journals, TellWhatWasWritten) {
  std::string token;
  {
    auto journal = open();
    ASSERT_TRUE(journal) << journal.error().message;
    token = journal->progress().token;
    EXPECT_FALSE(token.empty());
    ASSERT_TRUE(journal->begin_batch(3));
    ASSERT_TRUE(journal->begin_batch(2));
    ASSERT_TRUE(journal->script_profiled("abc", gibibytes(2)));
    ASSERT_TRUE(journal->row_started(0));
    ASSERT_TRUE(journal->row_started(1));
    ASSERT_TRUE(journal->row_succeeded(0, "f0"));
    ASSERT_TRUE(journal->row_failed(2, "f2", "exit 3"));
    ASSERT_TRUE(journal->row_submitted(4, "f4", 17));
  }
  const auto journal = open();
  ASSERT_TRUE(journal) << journal.error().message;
  const BatchProgress& progress = journal->progress();
  EXPECT_EQ(progress.token, token);
  ASSERT_EQ(progress.batches.size(), 2U);
  EXPECT_EQ(progress.batches[1].first, 3U);
  EXPECT_EQ(progress.batches[1].first_id, 4U);
  EXPECT_EQ(progress.taken(), 5U);
  EXPECT_EQ(progress.next_id, 6U);
  EXPECT_EQ(progress.profiled.at("abc"), gibibytes(2));
  EXPECT_EQ(progress.row(0).state, RowState::Succeeded);
  EXPECT_EQ(progress.row(0).fingerprint, "f0");
  EXPECT_EQ(progress.row(1).state, RowState::Running);
  EXPECT_EQ(progress.row(2).state, RowState::Failed);
  EXPECT_EQ(progress.row(2).reason, "exit 3");
  EXPECT_EQ(progress.row(3).state, RowState::Waiting);
  EXPECT_EQ(progress.row(4).job, 17U);
}

TEST_F(Journals, RestartForgetsAllButTheIds) {
  auto journal = open();
  ASSERT_TRUE(journal->begin_batch(3));
  ASSERT_TRUE(journal->row_succeeded(0, "f0"));
  ASSERT_TRUE(journal->restart());
  EXPECT_EQ(journal->progress().row(0).state, RowState::Waiting);
  const Result<BatchSpan> span = journal->begin_batch(3);
  ASSERT_TRUE(span);
  EXPECT_EQ(span->first, 0U);
  EXPECT_EQ(span->first_id, 4U);
}

TEST_F(Journals, EveryTornEndIsIgnored) {
  {
    auto journal = open();
    ASSERT_TRUE(journal->begin_batch(2));
    ASSERT_TRUE(journal->row_succeeded(0, "f0"));
  }
  const std::string whole = text();
  const std::size_t last = whole.rfind('\n', whole.size() - 2) + 1;
  for (std::size_t length = last; length < whole.size(); ++length) {
    std::filesystem::resize_file(path_, length);
    {
      auto journal = open();
      ASSERT_TRUE(journal) << journal.error().message;
      EXPECT_EQ(journal->progress().row(0).state, RowState::Waiting);
      ASSERT_TRUE(journal->row_succeeded(0, "f0"));
    }
    ASSERT_EQ(text(), whole) << length;
  }
  // Torn in its first line: a new one.
  std::filesystem::resize_file(path_, 5);
  const auto journal = open();
  ASSERT_TRUE(journal);
  EXPECT_EQ(journal->progress().taken(), 0U);
}

TEST_F(Journals, OthersAreKeptOut) {
  auto journal = open();
  ASSERT_TRUE(journal->begin_batch(2));
  const auto second = open();
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, ErrorCode::Refused);
  bool running = false;
  const auto seen = BatchJournal::look(path_, running);
  ASSERT_TRUE(seen);
  EXPECT_TRUE(running);
  EXPECT_EQ(seen->taken(), 2U);
  { const BatchJournal gone = std::move(*journal); }
  ASSERT_TRUE(BatchJournal::look(path_, running));
  EXPECT_FALSE(running);
  EXPECT_TRUE(open());
}

TEST_F(Journals, LookingMakesNoFile) {
  bool running = true;
  const auto seen = BatchJournal::look(path_, running);
  ASSERT_TRUE(seen);
  EXPECT_FALSE(running);
  EXPECT_FALSE(std::filesystem::exists(path_));
}

TEST_F(Journals, DamageIsNamedAndLeftAlone) {
  for (const char* line :
       {"nonsense", "start\t5", "succeeded\t0", "batch\t9\t1\t1", "start\tx", "start\t0\t1", ""}) {
    std::filesystem::remove(path_);
    {
      auto journal = open();
      ASSERT_TRUE(journal->begin_batch(2));
    }
    append(std::string(line) + "\nstart\t0\n");
    const std::string before = text();
    const auto journal = open();
    ASSERT_FALSE(journal) << line;
    EXPECT_NE(journal.error().message.find("line 3 of "), std::string::npos);
    EXPECT_EQ(text(), before);
  }
}

TEST_F(Journals, AFullDiskIsTold) {
  auto journal = open();
  ASSERT_TRUE(journal->begin_batch(2));
  set_failpoints("batch.journal=errno:28");
  EXPECT_FALSE(journal->row_started(0));
  set_failpoints("");
  EXPECT_TRUE(journal->row_started(1));
}

}  // namespace
}  // namespace berth
