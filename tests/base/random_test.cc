#include "base/random.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <numeric>

namespace berth {
namespace {

// The numbers of splitmix64, calculated apart from this code: recorded simulations and everyone's
// seeds rely on them.
TEST(Random, GivesTheSameNumbersForever) {
  Random zero(0);
  EXPECT_EQ(zero.next(), 0xe220a8397b1dcdafU);
  EXPECT_EQ(zero.next(), 0x6e789e6aa1b965f4U);
  EXPECT_EQ(zero.next(), 0x06c45d188009454fU);
  Random other(42);
  EXPECT_EQ(other.next(), 0xbdd732262feb6e95U);
  EXPECT_EQ(other.next(), 0x28efe333b266f103U);
}

TEST(Random, ShufflesTheSameWayForever) {
  std::vector<int> items = {0, 1, 2, 3, 4, 5};
  Random(7).shuffle(items);
  EXPECT_EQ(items, (std::vector{1, 5, 0, 2, 4, 3}));
}

TEST(Random, BelowStaysBelowAndIsEven) {
  Random random(1);
  std::array<int, 7> hits{};
  for (int i = 0; i < 70'000; ++i) {
    ++hits[random.below(7)];
  }
  for (const int n : hits) {
    EXPECT_NEAR(n, 10'000, 400);
  }
  EXPECT_EQ(random.below(1), 0U);
  EXPECT_LT(random.below(UINT64_MAX), UINT64_MAX);
}

// Over many seeds, because a single short stream may well be four deviations off: seed 1 is.
TEST(Random, UnitIsFromZeroToJustBelowOneAndEven) {
  constexpr int kSeeds = 100;
  constexpr int kDraws = 10'000;
  double sum = 0;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    Random random(seed);
    for (int i = 0; i < kDraws; ++i) {
      const double x = random.unit();
      ASSERT_GE(x, 0);
      ASSERT_LT(x, 1);
      sum += x;
    }
  }
  EXPECT_NEAR(sum / (kSeeds * kDraws), 0.5, 0.0015);  // five standard deviations
}

TEST(Random, AShuffleKeepsAllItems) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    std::vector<std::size_t> items(seed);
    std::iota(items.begin(), items.end(), 0U);
    std::vector<std::size_t> shuffled = items;
    Random(seed).shuffle(shuffled);
    EXPECT_TRUE(std::is_permutation(items.begin(), items.end(), shuffled.begin()));
  }
}

}  // namespace
}  // namespace berth
