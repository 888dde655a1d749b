#include "sim/machine_file.h"

#include <gtest/gtest.h>

namespace berth {
namespace {

TEST(MachineFile, IsATable) {
  const Result<Machine> machine = parse_machine_file(
      "# two kinds\n"
      "model,count,memory,speed,idle_w,full_w,machine\n"
      "a100,2,80GiB,1,60,380,0\n"
      "\n"
      "t4, 3, 16GiB, 0.4,,,1\r\n"
      "own\n",
      "gpus.csv");
  ASSERT_TRUE(machine.has_value()) << machine.error().message;
  ASSERT_EQ(machine->size(), 6U);
  EXPECT_EQ((*machine)[1].spec.name, "1");
  EXPECT_EQ((*machine)[1].spec.memory, gibibytes(80));
  EXPECT_EQ((*machine)[1].spec.power, (DevicePower{60, 380}));
  EXPECT_EQ((*machine)[4].spec.power, (DevicePower{10, 70}));  // known of the model
  EXPECT_EQ((*machine)[4].spec.locality.node, 1);
  EXPECT_DOUBLE_EQ((*machine)[4].speed, 0.4);
  EXPECT_EQ((*machine)[5].spec.model, "own");
  EXPECT_EQ((*machine)[5].spec.power, DevicePower{});
}

TEST(MachineFile, ErrorsNameLineAndColumn) {
  const std::pair<const char*, const char*> kWrong[] = {
      {"", "g.csv: no device is in it: write a line of column names"},
      {"model\n", "g.csv: no device is in it"},
      {"modle\na\n", "g.csv: line 1, column modle: there is no such column: choose from count"},
      {"model,model\n", "g.csv: line 1, column model: it comes twice"},
      {"count\n0\n", "g.csv: line 2, column count: '0' is not a number from 1 to 100000"},
      {"count\n1.5\n", "g.csv: line 2, column count: '1.5' is not a whole number"},
      {"count\n100000\n1\n", "g.csv: line 3, column count: at most 100000 devices"},
      {"model,memory\n\nt4,big\n", "g.csv: line 3, column memory: "},
      {"speed\n-1\n", "g.csv: line 2, column speed: '-1' is not a number from 0.001 to 1000"},
      {"speed\nnan\n", "g.csv: line 2, column speed: 'nan' is not a number"},
      {"idle_w\nx\n", "g.csv: line 2, column idle_w: 'x' is not a number from 0 to 100000"},
      {"idle_w,full_w\n50,40\n", "g.csv: line 2, column full_w: a busy device cannot draw less"},
      {"model\na,b\n", "g.csv: line 2, column 2: the first line names no such column"},
  };
  for (const auto& [text, words] : kWrong) {
    const Result<Machine> machine = parse_machine_file(text, "g.csv");
    ASSERT_FALSE(machine.has_value()) << text;
    EXPECT_TRUE(machine.error().message.starts_with(words)) << machine.error().message;
  }
}

}  // namespace
}  // namespace berth
