#include "spec/sweep_summary.h"

#include <gtest/gtest.h>

#include "spec/csv.h"

namespace berth {
namespace {

struct ValueCase {
  const char* name;
  std::string_view log;
  std::string_view value;  // of acc
};

class LastValue : public testing::TestWithParam<ValueCase> {};

TEST_P(LastValue, IsFound) {
  EXPECT_EQ(last_value(GetParam().log, "acc").value_or("(none)"), GetParam().value);
}

INSTANTIATE_TEST_SUITE_P(
    Table, LastValue,
    testing::Values(ValueCase{"colon", "acc: 0.5\n", "0.5"}, ValueCase{"equals", "acc=0.5,", "0.5"},
                    ValueCase{"blank", "epoch 3 acc 0.5 loss 2", "0.5"},
                    ValueCase{"spread", "acc\t=  -1e-3;", "-1e-3"},
                    ValueCase{"json", R"({"acc": 0.5, "loss": 2})", "0.5"},
                    ValueCase{"the_last_one", "acc: 0.1\nacc: 0.2\nloss: 9\n", "0.2"},
                    ValueCase{"not_part_of_a_word", "acc: 1\nval_acc: 2\naccuracy: 3\n", "1"},
                    ValueCase{"nothing_after_it", "acc: 1\nacc:", "1"},
                    ValueCase{"none", "loss: 1\n", "(none)"}, ValueCase{"empty", "", "(none)"}),
    [](const auto& row) { return std::string(row.param.name); });

TEST(Grid, HasParametersAndFolders) {
  const auto grid =
      parse_grid("--lr,--opt,JOB_DIR\n0.1,\"a,b\",/x/ExA1_job_0\n0.2,c,/x/ExA1_job_1\n");
  ASSERT_TRUE(grid) << grid.error().message;
  EXPECT_EQ(grid->columns, (std::vector<std::string>{"--lr", "--opt", "JOB_DIR"}));
  EXPECT_EQ(grid->folder, 2U);
  ASSERT_EQ(grid->rows.size(), 2U);
  EXPECT_EQ(grid->rows[0][1], "a,b");
  EXPECT_FALSE(parse_grid("--lr\n0.1\n"));
  EXPECT_FALSE(parse_grid("--lr,JOB_DIR\n0.1\n"));
  EXPECT_EQ(csv_field("a,\"b\""), "\"a,\"\"b\"\"\"");
}

}  // namespace
}  // namespace berth
