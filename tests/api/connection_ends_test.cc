// The stages of a connection's end: in order, and never back.
#include "api/connection_ends.h"

#include <gtest/gtest.h>

#include <functional>

namespace berth {
namespace {

struct StageCase {
  const char* name;
  std::function<void(ConnectionEnds&)> happens;
  bool takes_requests;
  bool ending;
  bool draining;
  bool closed;
};

class Stages : public ::testing::TestWithParam<StageCase> {};

TEST_P(Stages, AreNeverLeftForAnEarlierOne) {
  ConnectionEnds ends;
  GetParam().happens(ends);
  EXPECT_EQ(ends.takes_requests(), GetParam().takes_requests);
  EXPECT_EQ(ends.is_ending(), GetParam().ending);
  EXPECT_EQ(ends.is_draining(), GetParam().draining);
  EXPECT_EQ(ends.is_closed(), GetParam().closed);
}

INSTANTIATE_TEST_SUITE_P(
    Api, Stages,
    ::testing::Values(
        StageCase{"open", [](auto&) {}, true, false, false, false},
        StageCase{"half_closed", [](auto& ends) { ends.end_client(); }, true, false, false, false},
        StageCase{"no_more", [](auto& ends) { ends.take_no_more(); }, false, false, false, false},
        StageCase{"refused", [](auto& ends) { ends.refuse(); }, false, false, false, false},
        StageCase{"ending", [](auto& ends) { ends.end(); }, false, true, false, false},
        StageCase{"refused_while_ending",
                  [](auto& ends) {
                    ends.end();
                    ends.refuse();
                  },
                  false, true, false, false},
        StageCase{"draining",
                  [](auto& ends) {
                    ends.start_draining();
                    ends.end();
                  },
                  false, true, true, false},
        StageCase{"closed",
                  [](auto& ends) {
                    ends.close();
                    ends.start_draining();
                  },
                  false, true, false, true}),
    [](const auto& row) { return row.param.name; });

TEST(ConnectionEnds, OnlyARefusedClientThatStillSendsIsDrained) {
  ConnectionEnds ends;
  ends.end();
  EXPECT_FALSE(ends.must_drain());
  ends.refuse();
  EXPECT_TRUE(ends.must_drain());
  ends.end_client();
  EXPECT_FALSE(ends.must_drain());
}

TEST(ConnectionEnds, DrainsAndClosesOnce) {
  ConnectionEnds ends;
  EXPECT_TRUE(ends.start_draining());
  EXPECT_FALSE(ends.start_draining());
  EXPECT_TRUE(ends.close());
  EXPECT_FALSE(ends.close());
}

}  // namespace
}  // namespace berth
