// FairUse: ordinary users have a bound and no better rank; the privileged have neither.
#include "daemon/fair_use.h"

#include <gtest/gtest.h>

namespace berth {
namespace {

constexpr uid_t kOwner = 1000;
constexpr uid_t kAnn = 1001;

FairUse small() { return {{10, Bytes{1000}}, kOwner}; }

TEST(FairUse, RanksAreForThePrivileged) {
  const FairUse use = small();
  const struct {
    const char* name;
    std::int32_t priority;
    std::uint16_t weight;
    std::int32_t priority_before;
    std::uint16_t weight_before;
    bool ordinary_may;
  } cases[] = {
      {"as everybody", 0, 1, 0, 1, true},  {"stands back", 100, 1, 0, 1, true},
      {"goes first", -1, 1, 0, 1, false},  {"weighs more", 0, 2, 0, 1, false},
      {"keeps it", -5, 3, -5, 3, true},    {"gives some of it up", -3, 2, -5, 3, true},
      {"wants more", -6, 3, -5, 3, false}, {"comes back to 0", 0, 1, 5, 1, true},
  };
  for (const auto& c : cases) {
    JobSpec wanted;
    wanted.priority = c.priority;
    wanted.weight = c.weight;
    JobSpec before;
    before.priority = c.priority_before;
    before.weight = c.weight_before;
    EXPECT_EQ(use.check_rank(wanted, kAnn, before).has_value(), c.ordinary_may) << c.name;
    EXPECT_TRUE(use.check_rank(wanted, kOwner, before).has_value()) << c.name;
    EXPECT_TRUE(use.check_rank(wanted, 0, before).has_value()) << c.name;
  }
}

TEST(FairUse, AUserHasSoManyJobsAndBytes) {
  FairUse use = small();
  use.joined(JobId{1}, 8, kAnn, 10);
  EXPECT_EQ(use.used(kAnn).jobs, 8U);
  EXPECT_EQ(use.used(kAnn).bytes, 80U);
  EXPECT_TRUE(use.check_queue(kAnn, 2, 100).has_value());
  EXPECT_FALSE(use.check_queue(kAnn, 3, 100).has_value());
  EXPECT_FALSE(use.check_queue(kAnn, 1, 921).has_value());
  EXPECT_FALSE(use.check_queue(kAnn, 1, static_cast<std::uint64_t>(-1)).has_value());
  EXPECT_TRUE(use.check_queue(kOwner, 1'000'000, 1'000'000).has_value());
  use.left(JobId{3});
  use.left(JobId{3});   // is not counted twice
  use.left(JobId{99});  // was never
  EXPECT_EQ(use.used(kAnn).jobs, 7U);
  EXPECT_TRUE(use.check_queue(kAnn, 3, 100).has_value());
}

TEST(FairUse, ThePrivilegedAreNotCounted) {
  FairUse use = small();
  use.joined(JobId{1}, 1'000'000'000'000, kOwner, 10);
  use.joined(JobId{1}, 1'000'000'000'000, 0, 10);
  EXPECT_TRUE(use.users().empty());
}

}  // namespace
}  // namespace berth
