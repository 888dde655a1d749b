#include "core/peak_words.h"

#include <gtest/gtest.h>

#include "core/recipe.h"

namespace berth {
namespace {

using Names = std::vector<std::string>;

TEST(PeakWords, NumbersHaveTheNamesThatUsersGiveThem) {
  const auto names = [](const char* command) { return number_names(recipe_of("p", command).key); };
  EXPECT_EQ(names("train.py --batch 8 --lr=0.1 seed=3"), (Names{"batch", "lr", "seed"}));
  EXPECT_EQ(names("train.py 8 16"), (Names{"number 1", "number 2"}));
  EXPECT_EQ(names("sort '#' -n 5"), (Names{"n"}));
  EXPECT_EQ(names("true"), Names{});
}

TEST(PeakWords, ShapesAreProducts) {
  using Form = PeakFactor::Form;
  const Names names = {"batch", "width"};
  EXPECT_EQ(describe(PeakShape{{{0, Form::Number}, {1, Form::Number}}}, names), "batch × width");
  EXPECT_EQ(describe(PeakShape{{{1, Form::Number}, {1, Form::Number}}}, names), "width²");
  EXPECT_EQ(describe(PeakShape{{{1, Form::Number}, {1, Form::Number}, {1, Form::Number}}}, names),
            "width³");
  EXPECT_EQ(describe(PeakShape{{{0, Form::Inverse}}}, names), "1/batch");
  EXPECT_EQ(describe(PeakShape{{{0, Form::Root}}}, names), "√batch");
  EXPECT_EQ(describe(PeakShape{{{0, Form::Beyond, 64}}}, names), "batch beyond 64");
  EXPECT_EQ(describe(PeakShape{{{2, Form::Number}}}, names), "number 3");
}

}  // namespace
}  // namespace berth
