#include "memory/peak_file.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <vector>

#include "memory/peak_rewrite.h"

namespace berth {
namespace {

using Seen = std::vector<PastRun>;

class PeakFileTest : public ::testing::Test {
 protected:
  PeakFileTest() {
    std::string pattern = ::testing::TempDir() + "berth-peaks-XXXXXX";
    folder_ = ::mkdtemp(pattern.data());
    path_ = folder_ + "/state/peaks";
  }
  ~PeakFileTest() override { std::filesystem::remove_all(folder_); }

  PeakFile open(Seen& seen) const {
    return {path_,
            {[&seen](const PastRun& run) { seen.push_back(run); }, [&seen] { seen.clear(); }}};
  }

  std::string folder_;
  std::string path_;
};

PastRun run_of(std::string_view command, Bytes peak) { return {recipe_of("", command), peak, {}}; }

TEST_F(PeakFileTest, AllThatUseItLearnFromEachOther) {
  Seen one;
  Seen other;
  PeakFile first = open(one);
  PeakFile second = open(other);
  const Recipe recipe = recipe_of("a\tb", "train \\ --lr 0.1\n--batch 64");
  first.add({recipe, gibibytes(3), {}});
  ASSERT_EQ(one.size(), 1U);
  EXPECT_TRUE(other.empty());
  second.read();
  second.read();
  ASSERT_EQ(other.size(), 1U);
  EXPECT_EQ(other[0].recipe.key, recipe.key);
  EXPECT_EQ(other[0].recipe.numbers, recipe.numbers);
  EXPECT_EQ(other[0].peak, gibibytes(3));
  second.add(run_of("true", gibibytes(1)));
  first.read();
  EXPECT_EQ(one.size(), 2U);
  EXPECT_TRUE(one[1].recipe.numbers.empty());
}

TEST_F(PeakFileTest, LinesThatMakeNoSenseArePassedOver) {
  Seen seen;
  open(seen).add(run_of("good 1", gibibytes(1)));
  std::ofstream(path_, std::ios::app) << "\nnonsense\n-5\t1\tx\n5\n5\t\n5\tx\ty\n77\t1,2\ttorn";
  Seen after;
  PeakFile file = open(after);
  EXPECT_EQ(after.size(), 1U);
  std::ofstream(path_, std::ios::app) << " no more\n";
  file.read();
  ASSERT_EQ(after.size(), 2U);
  EXPECT_EQ(after[1].recipe.key, "torn no more");
}

TEST_F(PeakFileTest, StaysShort) {
  Seen seen;
  open(seen).add(run_of("old 1", gibibytes(1)));
  {
    std::ofstream file(path_, std::ios::app);
    for (int i = 0; i < 100'000; ++i) {
      file << i + 1 << "\t1\ttrain.py --something --or-other --that-is-long " << i / 100 << "\n";
    }
  }
  seen.clear();
  PeakFile file = open(seen);
  EXPECT_LT(std::filesystem::file_size(path_), 3U << 20);
  ASSERT_FALSE(seen.empty());
  EXPECT_EQ(seen.back().peak.count, 100'000);
  EXPECT_NE(seen.front().recipe.key, "\nold #");
  file.add(run_of("new 1", gibibytes(2)));
  EXPECT_EQ(seen.back().peak, gibibytes(2));
}

TEST_F(PeakFileTest, WhereItCannotBeWrittenThisProcessStillLearns) {
  std::ofstream(folder_ + "/state") << "a file, not a folder";
  Seen seen;
  open(seen).add(run_of("x 1", gibibytes(1)));
  EXPECT_EQ(seen.size(), 1U);
}

TEST_F(PeakFileTest, KeepsLengthsAndReadsLinesWithoutThem) {
  Seen seen;
  PeakFile file = open(seen);
  std::ofstream(path_) << "77\t1,2\tan older one\n"
                          "0/1500\t1\tof which only the length is known\n"
                          "0\t1\tof which nothing is\n"
                          "5/-1\t1\tx\n5/\t1\tx\n5/9999999999999999\t1\tx\n";
  file.add({recipe_of("", "train 1"), gibibytes(1), std::chrono::milliseconds(61'250)});
  ASSERT_EQ(seen.size(), 3U);
  EXPECT_FALSE(seen[0].length.has_value());
  EXPECT_EQ(seen[1].peak, Bytes{});
  EXPECT_EQ(seen[1].length, std::chrono::milliseconds(1500));
  EXPECT_EQ(seen[2].peak, gibibytes(1));
  EXPECT_EQ(seen[2].length, std::chrono::milliseconds(61'250));
}

TEST_F(PeakFileTest, AReplacedFileIsReadAnew) {
  Seen seen;
  PeakFile file = open(seen);
  file.add(run_of("bad 1", gibibytes(9)));
  file.add(run_of("good 1", gibibytes(1)));
  // Twice, because the third file may have the first one's number on disk.
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(rewrite_peaks(path_, [](std::vector<PastRun>& runs) {
      std::erase_if(runs, [](const PastRun& run) { return run.recipe.key == "\nbad #"; });
    }));
  }
  file.read();
  ASSERT_EQ(seen.size(), 1U);
  EXPECT_EQ(seen[0].recipe.key, "\ngood #");
  std::filesystem::remove(path_);
  file.read();
  EXPECT_TRUE(seen.empty());
}

TEST_F(PeakFileTest, WhatIsAddedWhileOthersRewriteItIsNotLost) {
  Seen seen;
  PeakFile file = open(seen);
  file.add(run_of("old 1", gibibytes(1)));
  ASSERT_TRUE(rewrite_peaks(path_, [&](std::vector<PastRun>& runs) {
    file.add(run_of("new 1", gibibytes(2)));
    runs.clear();
  }));
  file.read();
  ASSERT_EQ(seen.size(), 1U);
  EXPECT_EQ(seen[0].peak, gibibytes(2));
  EXPECT_EQ(read_peaks(path_)->size(), 1U);
}

TEST_F(PeakFileTest, ARecipeThatRunsOftenDoesNotDriveOutTheOthers) {
  Seen seen;
  PeakFile file = open(seen);
  file.add(run_of("rare 1", gibibytes(3)));
  {
    std::ofstream out(path_, std::ios::app);
    for (int i = 0; i < 100'000; ++i) {
      out << i + 1 << "\t1\ttrain.py --something --or-other --that-is-long #\n";
    }
  }
  file.add(run_of("new 1", gibibytes(2)));
  EXPECT_LT(std::filesystem::file_size(path_), 100U << 10);
  EXPECT_EQ(seen.front().recipe.key, "\nrare #");
  EXPECT_EQ(seen.back().peak, gibibytes(2));
}

}  // namespace
}  // namespace berth
