// How well claims are learned: the bounds that docs/memory.md promises, over 20 seeds each.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "core/peak_streams.h"

namespace berth {
namespace {

constexpr double kRisk = 0.01;

struct Named {
  const char* name;
  PeakStream (*stream)(double);
};

void print(const char* name, double noise, const StreamFigures& figures) {
  fmt::print(
      "{} {:.0f} %: {} jobs, {:.1f} % claimed, {:.2f} % of these out of memory, {:.1f} % "
      "wasted; in one stream at most {} alone, {} out of memory; {} lent, {} of these out of "
      "memory\n",
      name, 100 * noise, figures.jobs, 100 * figures.share_claimed(),
      100 * figures.share_out_of_memory(), 100 * figures.waste(), figures.most_alone,
      figures.most_out_of_memory, figures.lent, figures.lent_out_of_memory);
}

class LearningTest : public testing::TestWithParam<double> {
 protected:
  StreamFigures learn(const char* name, PeakStream (*stream)(double)) {
    const StreamFigures figures = learn_stream(stream(GetParam()));
    print(name, GetParam(), figures);
    return figures;
  }
};

TEST_P(LearningTest, NoiseIsNoReasonToRunAlone) {
  const StreamFigures figures = learn("noisy repeats", noisy_repeats);
  EXPECT_LE(figures.most_alone, 4);
  EXPECT_LE(figures.least_share_out_of_memory(), kRisk);
  EXPECT_LE(figures.waste(), 0.3);
}

TEST_P(LearningTest, BatchSizesNeverSeenAreForetold) {
  const StreamFigures figures = learn("new batch sizes", new_batch_sizes);
  EXPECT_GE(figures.share_claimed(), 0.9);
  EXPECT_LE(figures.least_share_out_of_memory(), kRisk);
  EXPECT_LE(figures.waste(), 0.3);
}

TEST_P(LearningTest, ThreeNumbersThatMatterAreFoundInARandomSearch) {
  for (const auto& [name, stream] :
       {Named{"product", random_search_of_a_product}, Named{"sum", random_search_of_a_sum}}) {
    const StreamFigures figures = learn(name, stream);
    EXPECT_GE(figures.share_claimed(), 0.7) << name;
    EXPECT_LE(figures.least_share_out_of_memory(), kRisk) << name;
    EXPECT_LE(figures.waste(), 0.3) << name;
  }
}

TEST_P(LearningTest, KindredRecipesLendTheirShape) {
  // Without lending 79, 71 and 70 % at most.
  struct Bound {
    Named named;
    double least_claimed;
  };
  for (const auto& [named, least_claimed] :
       {Bound{{"kindred batch sizes", kindred_batch_sizes}, 0.85},
        Bound{{"kindred products", kindred_products}, 0.75},
        Bound{{"kindred sums", kindred_sums}, 0.75}}) {
    const StreamFigures figures = learn(named.name, named.stream);
    EXPECT_GE(figures.share_claimed(), least_claimed) << named.name;
    EXPECT_LE(figures.least_share_out_of_memory(), kRisk) << named.name;
    EXPECT_LE(figures.lent_out_of_memory, kRisk * figures.lent) << named.name;
  }
}

TEST_P(LearningTest, KinInNameOnlyDoNotMislead) {
  const StreamFigures figures = learn("kin in name only", kin_in_name_only);
  EXPECT_LE(figures.least_share_out_of_memory(), kRisk);
  EXPECT_LE(figures.lent_out_of_memory, 1);
}

TEST_P(LearningTest, FlatThenSteepIsNoticed) {
  for (const auto& [name, stream] :
       {Named{"flat then steep", flat_then_steep}, Named{"flat then steeper", flat_then_steeper},
        Named{"long flat then steep", long_flat_then_steep}}) {
    EXPECT_LE(learn(name, stream).most_out_of_memory, 2) << name;
  }
}

INSTANTIATE_TEST_SUITE_P(Noise, LearningTest, testing::Values(0.0, 0.05, 0.1),
                         [](const auto& noise) {
                           return fmt::format("{:.0f}Percent", 100 * noise.param);
                         });

}  // namespace
}  // namespace berth
