#include "memory/peak_file.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <vector>

namespace berth {
namespace {

class PeakFileTest : public ::testing::Test {
 protected:
  PeakFileTest() {
    std::string pattern = ::testing::TempDir() + "berth-peaks-XXXXXX";
    folder_ = ::mkdtemp(pattern.data());
    path_ = folder_ + "/state/peaks";
  }
  ~PeakFileTest() override { std::filesystem::remove_all(folder_); }

  PeakFile open(std::vector<std::pair<Recipe, Bytes>>& seen) const {
    return {path_, [&seen](const Recipe& recipe, Bytes peak) { seen.emplace_back(recipe, peak); }};
  }

  std::string folder_;
  std::string path_;
};

using Seen = std::vector<std::pair<Recipe, Bytes>>;

TEST_F(PeakFileTest, AllThatUseItLearnFromEachOther) {
  Seen one;
  Seen other;
  PeakFile first = open(one);
  PeakFile second = open(other);
  const Recipe recipe = recipe_of("a\tb", "train \\ --lr 0.1\n--batch 64");
  first.add(recipe, gibibytes(3));
  ASSERT_EQ(one.size(), 1U);
  EXPECT_TRUE(other.empty());
  second.read();
  second.read();
  ASSERT_EQ(other.size(), 1U);
  EXPECT_EQ(other[0].first.key, recipe.key);
  EXPECT_EQ(other[0].first.numbers, recipe.numbers);
  EXPECT_EQ(other[0].second, gibibytes(3));
  second.add(recipe_of("", "true"), gibibytes(1));
  first.read();
  EXPECT_EQ(one.size(), 2U);
  EXPECT_TRUE(one[1].first.numbers.empty());
}

TEST_F(PeakFileTest, LinesThatMakeNoSenseArePassedOver) {
  Seen seen;
  open(seen).add(recipe_of("", "good 1"), gibibytes(1));
  std::ofstream(path_, std::ios::app) << "\nnonsense\n-5\t1\tx\n5\n5\t\n5\tx\ty\n77\t1,2\ttorn";
  Seen after;
  PeakFile file = open(after);
  EXPECT_EQ(after.size(), 1U);
  std::ofstream(path_, std::ios::app) << " no more\n";
  file.read();
  ASSERT_EQ(after.size(), 2U);
  EXPECT_EQ(after[1].first.key, "torn no more");
}

TEST_F(PeakFileTest, StaysShort) {
  Seen seen;
  open(seen).add(recipe_of("", "old 1"), gibibytes(1));
  {
    std::ofstream file(path_, std::ios::app);
    for (int i = 0; i < 100'000; ++i) {
      file << i + 1 << "\t1\ttrain.py --something --or-other --that-is-long #\n";
    }
  }
  seen.clear();
  PeakFile file = open(seen);
  EXPECT_LT(std::filesystem::file_size(path_), 3U << 20);
  ASSERT_FALSE(seen.empty());
  EXPECT_EQ(seen.back().second.count, 100'000);
  EXPECT_NE(seen.front().first.key, "\nold #");
  file.add(recipe_of("", "new 1"), gibibytes(2));
  EXPECT_EQ(seen.back().second, gibibytes(2));
}

TEST_F(PeakFileTest, WhereItCannotBeWrittenThisProcessStillLearns) {
  std::ofstream(folder_ + "/state") << "a file, not a folder";
  Seen seen;
  open(seen).add(recipe_of("", "x 1"), gibibytes(1));
  EXPECT_EQ(seen.size(), 1U);
}

}  // namespace
}  // namespace berth
