#include "spec/sweep_file.h"

#include <gtest/gtest.h>

#include "spec/sweep_helpers.h"

namespace berth {
namespace {

using Texts = std::vector<std::string>;

TEST(SweepFile, SaysAllThatTheCommandLineCan) {
  const Result<SweepSpec> spec = parse_sweep_file(R"(
command = "python train.py --lr {lr} --bs {bs}"
mode = "grid"            # or "shuffled_grid"
n_samples = 20
seed = 7
where = ["bs <= 128"]
zip = [["a", "b"]]
allow_unused = true
[parameters]
lr = "log:1e-5..1e-1"    # a range
bs = [32, 64, 128]
a = [1, 2]
b = [3, 4]
)",
                                                  "sweep.toml");
  ASSERT_TRUE(spec.has_value()) << spec.error().message;
  EXPECT_EQ(spec->command, "python train.py --lr {lr} --bs {bs}");
  EXPECT_EQ(spec->order, SweepOrder::Grid);
  EXPECT_EQ(spec->n_samples, 20);
  EXPECT_EQ(spec->seed, 7);
  EXPECT_EQ(spec->where, Texts{"bs <= 128"});
  EXPECT_EQ(spec->zips, std::vector<Texts>{(Texts{"a", "b"})});
  EXPECT_EQ(commands_of(*spec).size(), 20U);
}

TEST(SweepFile, KeepsTheOrderOfTheFile) {
  const Result<SweepSpec> spec =
      parse_sweep_file("command='{z} {a}'\n[parameters]\nz=[1,2]\na=[3,4]\n", "f");
  ASSERT_TRUE(spec.has_value()) << spec.error().message;
  EXPECT_EQ(commands_of(*spec), (Texts{"1 3", "1 4", "2 3", "2 4"}));
}

TEST(SweepFile, WritesValuesAsTheyWereMeant) {
  const Result<SweepSpec> spec = parse_sweep_file(
      "command='{v}'\n[parameters]\nv=[1, 1.0, 0.001, 1e-5, true, 'x', '1..3', '']\n", "f");
  ASSERT_TRUE(spec.has_value()) << spec.error().message;
  EXPECT_EQ(commands_of(*spec), (Texts{"1", "1.0", "0.001", "1e-05", "true", "x", "1..3", ""}));
}

TEST(SweepFile, OneValueNeedsNoList) {
  const Result<SweepSpec> spec = parse_sweep_file(
      "command='{a}{b}{c}'\nwhere='a > 1'\nzip=['a','d']\n[parameters]\n"
      "a='1..3'\nb='x,y'\nc=5\nd=[1,2,3]\n",
      "f");
  ASSERT_TRUE(spec.has_value()) << spec.error().message;
  SweepSpec flags;
  flags.allow_unused = true;
  EXPECT_EQ(commands_of(override_sweep(*spec, flags)), (Texts{"2x,y5", "3x,y5"}));
}

TEST(SweepFile, TextsMayHoldAnyCharacters) {
  const Result<SweepSpec> spec = parse_sweep_file(
      "command = \"\"\"\\\n  § {λ}\"\"\"\n[parameters]\n'λ' = ['é', '日本']\n", "f");
  ASSERT_TRUE(spec.has_value()) << spec.error().message;
  EXPECT_EQ(commands_of(*spec), (Texts{"§ é", "§ 日本"}));
}

struct FileErrorRow {
  const char* name;
  std::string_view text;
  std::string_view says;
};

class SweepFileErrors : public testing::TestWithParam<FileErrorRow> {};

TEST_P(SweepFileErrors, NameThePlace) {
  const std::string message = message_of(parse_sweep_file(GetParam().text, "f.toml"));
  EXPECT_EQ(message.substr(0, GetParam().says.size()), GetParam().says) << message;
}

INSTANTIATE_TEST_SUITE_P(
    Table, SweepFileErrors,
    testing::Values(
        FileErrorRow{"syntax", "command = \"x\"\nmode = = 3\n", "f.toml:2:8: "},
        FileErrorRow{"odd_characters", "where\u0364\u075e = 3\n", "f.toml:1:6: "},
        FileErrorRow{"twice", "seed = 1\nseed = 2\n", "f.toml:2:"},
        FileErrorRow{"nearest_key", "\nn_sample = 3\n",
                     "f.toml:2:1: unknown key 'n_sample': did you mean 'n_samples'?"},
        FileErrorRow{"no_near_key", "colour = 3\n",
                     "f.toml:1:1: unknown key 'colour' (known: command, "},
        FileErrorRow{"command_type", "command = 3\n", "f.toml:1:1: command must be a text"},
        FileErrorRow{"mode_value", "mode = 'random'\n", "f.toml:1:1: 'random' is not a mode"},
        FileErrorRow{"mode_type", "mode = 1\n", "f.toml:1:1: mode must be \"grid\""},
        FileErrorRow{"samples_negative", "n_samples = -1\n",
                     "f.toml:1:1: n_samples must be a whole"},
        FileErrorRow{"samples_fraction", "n_samples = 1.5\n",
                     "f.toml:1:1: n_samples must be a whole"},
        FileErrorRow{"seed_text", "seed = 'x'\n", "f.toml:1:1: seed must be a whole number"},
        FileErrorRow{"where_type", "where = [1]\n", "f.toml:1:10: where must hold texts only"},
        FileErrorRow{"zip_type", "zip = 'a'\n", "f.toml:1:1: zip must be a list of lists"},
        FileErrorRow{"zip_mixed", "zip = [['a','b'], 'c']\n",
                     "f.toml:1:1: zip must be a list of lists"},
        FileErrorRow{"parameters_type", "parameters = 1\n",
                     "f.toml:1:1: parameters must be a table"},
        FileErrorRow{"no_values", "[parameters]\nx = []\n",
                     "f.toml:2:1: parameter 'x' has no values"},
        FileErrorRow{"bad_range", "[parameters]\nx = '1..'\n",
                     "f.toml:2:1: parameter 'x': the range"},
        FileErrorRow{"bad_name", "[parameters]\n'1 x' = 1\n",
                     "f.toml:2:1: '1 x' is not a parameter"},
        FileErrorRow{"table_value", "[parameters]\nx = {a = 1}\n",
                     "f.toml:2:5: parameter 'x' takes"},
        FileErrorRow{"nested_list", "[parameters]\nx = [[1]]\n",
                     "f.toml:2:6: parameter 'x' takes"}),
    kRowName);

}  // namespace
}  // namespace berth
