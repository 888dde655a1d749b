#include "core/student.h"

#include <gtest/gtest.h>

namespace berth {
namespace {

TEST(StudentTest, AgreesWithTheTables) {
  struct Row {
    double risk;
    int freedom;
    double upper;
  };
  for (const Row& row : {Row{0.01, 1, 31.821}, Row{0.01, 2, 6.965}, Row{0.01, 3, 4.541},
                         Row{0.05, 7, 1.895}, Row{0.01, 10, 2.764}, Row{0.001, 30, 3.385}}) {
    EXPECT_NEAR(student_upper(row.risk, row.freedom), row.upper, 0.001)
        << row.risk << " " << row.freedom;
  }
}

}  // namespace
}  // namespace berth
