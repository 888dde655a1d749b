#include "spec/sweep.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "spec/sweep_helpers.h"

namespace berth {
namespace {

using Texts = std::vector<std::string>;

/// `train {a} {b}` over three and two values.
SweepSpec small() {
  SweepSpec spec;
  spec.command = "{a}{b}";
  spec.params = {param("a", "x,y,z"), param("b", "1,2")};
  return spec;
}

std::string error_of(SweepSpec spec) { return message_of(Sweep::make(std::move(spec))); }

std::optional<std::uint64_t> count_of(SweepSpec spec) {
  const Result<Sweep> sweep = Sweep::make(std::move(spec));
  return sweep ? sweep->count() : std::nullopt;
}

TEST(Sweep, TheLastParameterVariesFastest) {
  EXPECT_EQ(commands_of(small()), (Texts{"x1", "x2", "y1", "y2", "z1", "z2"}));
  EXPECT_EQ(count_of(small()), 6);
}

TEST(Sweep, WithoutParametersThereIsOneCommand) {
  SweepSpec spec;
  spec.command = "make";
  EXPECT_EQ(commands_of(spec), (Texts{"make"}));
}

TEST(Sweep, GivesTheValuesAsData) {
  const Result<Sweep> sweep = Sweep::make(small());
  ASSERT_TRUE(sweep.has_value());
  SweepCursor cursor(*sweep, 0);
  ASSERT_TRUE(cursor.next());
  ASSERT_TRUE(cursor.next());
  EXPECT_EQ(sweep->params()[1].name(), "b");
  EXPECT_EQ(cursor.values()[0].text, "x");
  EXPECT_EQ(cursor.values()[1].text, "2");
  EXPECT_EQ(cursor.values()[1].number, 2);
}

TEST(Sweep, ZippedParametersAdvanceTogether) {
  SweepSpec spec;
  spec.command = "{a}{b}{c}";
  spec.params = {param("a", "x,y"), param("b", "1,2"), param("c", "p,q")};
  spec.zips = {{"c", "a"}};
  EXPECT_EQ(commands_of(spec), (Texts{"x1p", "x2p", "y1q", "y2q"}));
}

TEST(Sweep, ASampleInGridOrderIsItsBeginning) {
  SweepSpec spec = small();
  spec.order = SweepOrder::Grid;
  spec.n_samples = 3;
  EXPECT_EQ(commands_of(spec), (Texts{"x1", "x2", "y1"}));
}

TEST(Sweep, ASampleLargerThanTheGridIsTheGrid) {
  SweepSpec spec = small();
  spec.n_samples = 100;
  Texts commands = commands_of(spec, 3);
  std::sort(commands.begin(), commands.end());
  EXPECT_EQ(commands, commands_of(small()));
  EXPECT_EQ(count_of(spec), 6);
}

TEST(Sweep, ContinuousParametersAreDrawnForEachPoint) {
  SweepSpec spec;
  spec.command = "{b} {x}";
  spec.params = {param("x", "uniform:0..1"), param("b", "1,2")};
  spec.n_samples = 5;
  spec.order = SweepOrder::Grid;
  const Texts commands = commands_of(spec, 11);
  ASSERT_EQ(commands.size(), 5U);
  EXPECT_EQ(std::set(commands.begin(), commands.end()).size(), 5U);
  Texts firsts;
  for (const std::string& command : commands) {
    firsts.push_back(command.substr(0, 1));
  }
  EXPECT_EQ(firsts, (Texts{"1", "2", "1", "2", "1"}));
}

TEST(Sweep, HugeGridsAreSampledAtOnce) {
  SweepSpec spec;
  spec.command = "{a} {b}";
  spec.params = {param("a", "1..1000000"), param("b", "1..1000000")};
  EXPECT_EQ(count_of(spec), 1'000'000'000'000);
  spec.n_samples = 1000;
  const Texts commands = commands_of(spec, 1);
  EXPECT_EQ(std::set(commands.begin(), commands.end()).size(), 1000U);
}

// Written down once. If it changes, everyone's seeds mean something else: do not.
TEST(Sweep, TheSameSeedGivesTheSamePointsForever) {
  SweepSpec spec = small();
  spec.order = SweepOrder::Shuffled;
  EXPECT_EQ(commands_of(spec, 7), (Texts{"x2", "z2", "x1", "y1", "z1", "y2"}));
  SweepSpec large;
  large.command = "{n} {x} {lr}";
  large.params = {param("n", "1..1000000000000"), param("x", "uniform:-1..1"),
                  param("lr", "log:1e-5..1e-1")};
  large.n_samples = 4;
  EXPECT_EQ(commands_of(large, 7),
            (Texts{"746340868711 -0.774277 0.00102833", "215058153948 -0.566842 0.00830954",
                   "161228084739 0.688385 0.0134874", "698287414393 0.311815 0.0162289"}));
}

TEST(Sweep, AShuffleIsAPermutationOfTheGrid) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Random random(seed);
    SweepSpec spec;
    spec.command = "{a} {b} {c}";
    for (const char* name : {"a", "b", "c"}) {
      spec.params.push_back(param(name, fmt::format("1..{}", 1 + random.below(6))));
    }
    Texts grid = commands_of(spec);
    spec.order = SweepOrder::Shuffled;
    Texts shuffled = commands_of(spec, seed);
    EXPECT_EQ(shuffled, commands_of(spec, seed));
    std::sort(grid.begin(), grid.end());
    std::sort(shuffled.begin(), shuffled.end());
    ASSERT_EQ(shuffled, grid) << "seed " << seed;
  }
}

TEST(Sweep, ConstraintsAreAFilterOfTheGrid) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Random random(seed);
    SweepSpec spec;
    spec.command = "{a} {b}";
    const auto na = static_cast<std::int64_t>(1 + random.below(9));
    const auto nb = static_cast<std::int64_t>(1 + random.below(9));
    const auto limit = static_cast<std::int64_t>(random.below(12));
    spec.params = {param("a", fmt::format("1..{}", na)), param("b", fmt::format("1..{}", nb))};
    spec.where = {fmt::format("a + b <= {}", limit), "a % 2 == 0 or a <= b"};
    Texts expected;
    for (std::int64_t a = 1; a <= na; ++a) {
      for (std::int64_t b = 1; b <= nb; ++b) {
        if (a + b <= limit && (a % 2 == 0 || a <= b)) {
          expected.push_back(fmt::format("{} {}", a, b));
        }
      }
    }
    EXPECT_EQ(count_of(spec), std::nullopt);
    ASSERT_EQ(commands_of(spec), expected) << "seed " << seed;
    spec.n_samples = na * nb;
    Texts sampled = commands_of(spec, seed);
    std::sort(sampled.begin(), sampled.end());
    std::sort(expected.begin(), expected.end());
    ASSERT_EQ(sampled, expected) << "seed " << seed;
  }
}

TEST(Sweep, ASampleThatCannotBeFoundEnds) {
  for (const std::string_view values : {"uniform:0..1", "1..1000000000000"}) {
    SweepSpec spec;
    spec.command = "{x}";
    spec.params = {param("x", values)};
    spec.n_samples = 5;
    spec.where = {"x < 0"};
    spec.most_misses = 1000;
    const Result<Sweep> sweep = Sweep::make(spec);
    ASSERT_TRUE(sweep.has_value());
    SweepCursor cursor(*sweep, 1);
    EXPECT_FALSE(cursor.next());
    EXPECT_TRUE(cursor.gave_up());
  }
}

TEST(SweepErrors, NameTheParameter) {
  SweepSpec spec = small();
  spec.params.push_back(param("a", "1"));
  EXPECT_EQ(error_of(spec), "parameter 'a' is given twice");
  spec = small();
  spec.params.push_back(param("c", "1"));
  EXPECT_EQ(error_of(spec),
            "the template does not use parameter 'c' (--allow-unused accepts that)");
  spec.allow_unused = true;
  EXPECT_EQ(commands_of(spec).size(), 6U);
  spec = small();
  spec.command = "{nope}";
  EXPECT_EQ(error_of(spec), "template, column 1: unknown parameter 'nope' (known: a, b)");
  spec = small();
  spec.params[1] = param("b", "log:1..2");
  EXPECT_EQ(error_of(spec),
            "parameter 'b' is a continuous range: say how many samples to draw (--n-samples N), or "
            "give it points (b=…/5)");
}

TEST(SweepErrors, Zips) {
  SweepSpec spec = small();
  spec.zips = {{"a", "b"}};
  EXPECT_EQ(error_of(spec), "zipped parameters need the same number of values: a has 3, b has 2");
  spec.zips = {{"a"}};
  EXPECT_EQ(error_of(spec), "zip needs at least two parameter names");
  spec.zips = {{"a", "c"}};
  EXPECT_EQ(error_of(spec), "zip: unknown parameter 'c' (known: a, b)");
  spec.zips = {{"a", "a"}};
  EXPECT_EQ(error_of(spec), "zip: parameter 'a' is named twice");
  spec.params[1] = param("b", "uniform:0..1");
  spec.zips = {{"a", "b"}};
  EXPECT_EQ(error_of(spec), "zip: 'b' is a continuous range, which has no length");
}

TEST(SweepErrors, TooManyPoints) {
  SweepSpec spec;
  spec.command = "{a} {b}";
  spec.params = {param("a", "1..9223372036854775807"), param("b", "1,2,3")};
  EXPECT_EQ(error_of(spec), "the grid has more than 2^64 points");
  spec.params[1] = param("b", "1,2");
  EXPECT_EQ(count_of(spec), 18446744073709551614U);
}

TEST(OverrideSweep, WhatIsSaidLaterStands) {
  SweepSpec base = small();
  base.where = {"b == 1"};
  base.seed = 1;
  base.n_samples = 9;
  SweepSpec over;
  over.params = {param("b", "7"), param("c", "8")};
  over.command = "{c}{b}{a}";
  over.where = {"a != 'y'"};
  over.order = SweepOrder::Grid;
  const SweepSpec both = override_sweep(base, over);
  EXPECT_EQ(commands_of(both), (Texts{"87x", "87z"}));
  EXPECT_EQ(both.seed, 1);
  EXPECT_EQ(both.n_samples, 9);
}

TEST(Permutation, IsOneForAllSizesOfBothKinds) {
  for (const std::uint64_t size : {1, 2, 3, 9, 1000, 65536, 65537, 100'000, 300'001}) {
    const Permutation shuffle(size, 42);
    std::vector<bool> seen(size);
    for (std::uint64_t i = 0; i < size; ++i) {
      const std::uint64_t to = shuffle(i);
      ASSERT_LT(to, size);
      ASSERT_FALSE(seen[to]) << size << " " << i;
      seen[to] = true;
    }
  }
}

TEST(Permutation, SpreadsTheFirstDrawsEvenlyOverLargeSizes) {
  constexpr std::uint64_t kSize = 1'000'000'000'007;
  std::array<int, 10> tenths{};
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const Permutation shuffle(kSize, seed);
    for (std::uint64_t i = 0; i < 100; ++i) {
      ++tenths[shuffle(i) / (kSize / 10 + 1)];
    }
  }
  for (const int hits : tenths) {
    EXPECT_NEAR(hits, 1000, 150);
  }
}

TEST(Permutation, TheLargestSizeWorks) {
  const Permutation shuffle(UINT64_MAX, 5);
  EXPECT_NE(shuffle(0), shuffle(1));
  EXPECT_LT(shuffle(UINT64_MAX - 1), UINT64_MAX);
}

}  // namespace
}  // namespace berth
