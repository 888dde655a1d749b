#include "base/failpoint.h"

#include <gtest/gtest.h>

namespace berth {
namespace {

TEST(Failpoint, FailsOnlyTheNamedStepAndOnlySoOften) {
  EXPECT_EQ(BERTH_FAILPOINT("a"), 0);
  set_failpoints("a=errno:28*2;nonsense;c=what;d=errno:x;b=errno:5");
  EXPECT_EQ(BERTH_FAILPOINT("a"), 28);
  EXPECT_EQ(BERTH_FAILPOINT("b"), 5);
  EXPECT_EQ(BERTH_FAILPOINT("a"), 28);
  EXPECT_EQ(BERTH_FAILPOINT("a"), 0);
  EXPECT_EQ(BERTH_FAILPOINT("c"), 0);
  EXPECT_EQ(BERTH_FAILPOINT("d"), 0);
  EXPECT_EQ(BERTH_FAILPOINT("b"), 5);
  set_failpoints("");
  EXPECT_EQ(BERTH_FAILPOINT("b"), 0);
}

TEST(FailpointDeathTest, KillsTheProcess) {
  EXPECT_EXIT(
      {
        set_failpoints("here=kill");
        (void)BERTH_FAILPOINT("here");
      },
      testing::KilledBySignal(9), "");
}

}  // namespace
}  // namespace berth
