// Files of models: what is written reads back the same, and nothing else is taken for a model.
#include "rl/model_file.h"

#include <gtest/gtest.h>

#include "rl/packed_name.h"

namespace berth {
namespace {

Model some_model(std::size_t hidden) {
  Model model;
  model.hidden = hidden;
  model.starts = Starts::Pass;
  model.tight = true;
  model.grace = std::chrono::hours(5);
  model.origin = {"mine", "a trace", "slowdown", "evolution", "good", 7};
  for (std::size_t i = 0; i < weights_of(hidden); ++i) {
    model.weights.push_back(0.1F * static_cast<float>(i) - 1.7F);
  }
  return model;
}

TEST(ModelFile, ReadsBackWhatItWrote) {
  for (const std::size_t hidden : {std::size_t{0}, std::size_t{16}}) {
    const Model model = some_model(hidden);
    const Result<Model> again = parse_model(to_text(model), "m.berth");
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_EQ(again->weights, model.weights);
    EXPECT_EQ(again->hidden, hidden);
    EXPECT_EQ(again->starts, model.starts);
    EXPECT_EQ(again->tight, model.tight);
    EXPECT_EQ(again->grace, model.grace);
    EXPECT_EQ(again->origin.result, "good");
    EXPECT_EQ(to_text(*again), to_text(model));
  }
}

/// As the first berth with learned policies wrote it: with two hidden units, whose weights count
/// up.
TEST(ModelFile, ReadsFormatOne) {
  std::string text = "berth-model 1\nseed 7\nhidden 2\nstarts backfill\ngrace 60\nweights";
  for (int i = 0; i < 22 + 2 * 15; ++i) {
    text += " " + std::to_string(i);
  }
  const Result<Model> model = parse_model(text + "\nchecksum 75ea4733b61427e9\n", "m");
  ASSERT_TRUE(model) << model.error().message;
  EXPECT_EQ(model->starts, Starts::Backfill);
  EXPECT_FALSE(model->tight);
  ASSERT_EQ(model->weights.size(), weights_of(2));
  const std::vector<float> after_terms = {0,  0,  0,  0,  0,  0,  22, 23, 24,
                                          25, 26, 27, 28, 29, 30, 0,  0,  31};
  EXPECT_TRUE(
      std::equal(after_terms.begin(), after_terms.end(), model->weights.begin() + kTerms - 6));
  EXPECT_EQ(model->weights[kTerms + 16], 36);     // the second unit's first input
  EXPECT_EQ(model->weights[kTerms + 16 + 9], 0);  // and what it does not know of
  EXPECT_EQ(model->weights.back(), 51);
}

TEST(ModelFile, RefusesEveryTruncationAndEveryFlippedByte) {
  const std::string text = to_text(some_model(2));
  for (std::size_t size = 0; size < text.size(); ++size) {
    EXPECT_FALSE(parse_model(text.substr(0, size), "m")) << size;
  }
  for (std::size_t i = 0; i < text.size(); ++i) {
    std::string damaged = text;
    damaged[i] = static_cast<char>(damaged[i] ^ 0x11);
    EXPECT_FALSE(parse_model(damaged, "m")) << i;
  }
}

TEST(ModelFile, SaysWhatIsWrong) {
  const auto message = [](const std::string& text) {
    return parse_model(text, "m").error().message;
  };
  EXPECT_NE(message("PK\x03\x04").find("is not a model of berth"), std::string::npos);
  EXPECT_NE(message("berth-model 3\n").find("has format 3"), std::string::npos);
  EXPECT_NE(message(std::string(kMostModelBytes + 1, 'x')).find("is longer"), std::string::npos);
}

TEST(ModelFile, RefusesWeightsThatAreNoNumbers) {
  Model model = some_model(0);
  model.weights[3] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_FALSE(parse_model(to_text(model), "m"));
  model.weights[3] = std::numeric_limits<float>::infinity();
  EXPECT_FALSE(parse_model(to_text(model), "m"));
  model.weights.pop_back();
  EXPECT_FALSE(parse_model(to_text(model), "m"));
}

TEST(PackedName, HoldsTheModelAndHidesItFromPeople) {
  const Model model = some_model(4);
  const std::string name = pack_model("/home/me/my model,1.berth", model);
  EXPECT_EQ(policy_label(name), "rl:my_model_1.berth");
  const Result<Model> again = unpack_model(name);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->weights, model.weights);
  EXPECT_FALSE(unpack_model("rl:mine.berth"));
  EXPECT_FALSE(unpack_model("rl:mine.berth#??"));
  EXPECT_FALSE(unpack_model(name.substr(0, name.size() - 5)));
}

}  // namespace
}  // namespace berth
