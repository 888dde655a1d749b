#include "batch/batch_ids.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>

#include "batch/journal.h"

namespace berth {
namespace {

class BatchIds : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = testing::TempDir() + "berth-ids-XXXXXX";
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::uint64_t take(std::uint64_t count, std::uint64_t least = 1) const {
    const Result<std::uint64_t> first = take_batch_ids(counter(), count, least);
    EXPECT_TRUE(first) << first.error().message;
    return first.value_or(0);
  }
  std::string counter() const { return folder_ + "/state/batch-ids"; }

  std::string folder_;
};

TEST_F(BatchIds, GoOnCounting) {
  EXPECT_EQ(take(3), 1U);
  EXPECT_EQ(take(1), 4U);
  EXPECT_EQ(take(2, 100), 100U);  // a journal from before there was a counter
  EXPECT_EQ(take(1), 102U);
}

TEST_F(BatchIds, NonsenseIsAsNothing) {
  take(1);
  for (const char* text : {"", "x\n", "0\n", "99999999999999999999999\n"}) {
    std::ofstream(counter()) << text;
    EXPECT_EQ(take(1), 1U) << text;
  }
}

TEST_F(BatchIds, CountOverFiles) {
  auto first = BatchJournal::open(folder_ + "/a.csv.berth", counter());
  auto second = BatchJournal::open(folder_ + "/b.csv.berth", counter());
  ASSERT_TRUE(first && second);
  EXPECT_EQ(first->begin_batch(2)->first_id, 1U);
  EXPECT_EQ(second->begin_batch(5)->first_id, 3U);
  EXPECT_EQ(first->begin_batch(1)->first_id, 8U);
}

TEST_F(BatchIds, ABatchBeginsWithoutThem) {
  auto journal = BatchJournal::open(folder_ + "/a.csv.berth", "/dev/null/ids");
  ASSERT_TRUE(journal);
  EXPECT_FALSE(journal->begin_batch(2));
  ASSERT_EQ(journal->progress().batches.size(), 1U);
  EXPECT_EQ(journal->progress().batches.front().first_id, 1U);
}

}  // namespace
}  // namespace berth
