// What would let a waiting job start now.
#include "core/remedy.h"

#include <gtest/gtest.h>

namespace berth {
namespace {

constexpr Bytes kGiB{std::int64_t{1} << 30};

Bytes gib(std::int64_t count) { return Bytes{count * kGiB.count}; }

/// Two devices of 24 GiB: job 1 has the first with 6 GiB, job 2 the second for itself.
class RemedyTest : public ::testing::Test {
 protected:
  RemedyTest() {
    for (const char* name : {"0", "1"}) {
      DeviceSpec spec;
      spec.name = name;
      spec.memory = gib(24);
      devices_.add(spec);
    }
    Needs some;
    some.memory = gib(6);
    const DeviceId first{0};
    const DeviceId second{1};
    devices_.lease(JobId{1}, some, std::span(&first, 1));
    devices_.lease(JobId{2}, Needs{}, std::span(&second, 1));
  }

  std::string words(const Needs& needs) const {
    return describe(find_remedy(devices_, needs, kUsualPlacement));
  }

  DeviceTable devices_{DeviceTable::Limits{}};
};

TEST_F(RemedyTest, AJobOfUnknownMemoryCouldShare) {
  const std::string said = words(Needs{});
  EXPECT_NE(said.find("GPU 0 has 17."), std::string::npos) << said;
  EXPECT_NE(
      said.find("this job's memory is not known, so it wants a whole GPU: --mem 17GiB or less "
                "lets it share"),
      std::string::npos)
      << said;
}

TEST_F(RemedyTest, AJobThatClaimsTooMuchCouldClaimLess) {
  Needs needs;
  needs.memory = gib(20);
  const std::string said = words(needs);
  EXPECT_NE(said.find("it would fit with --mem 17GiB"), std::string::npos) << said;
}

TEST_F(RemedyTest, AJobThatNamesDevicesCouldTakeAnother) {
  Needs needs;
  needs.memory = gib(5);
  needs.only = {"1"};
  EXPECT_EQ(words(needs), "it would fit now if it took any device");
}

TEST_F(RemedyTest, AGangCouldBeSmaller) {
  Needs needs;
  needs.gpus = 2;
  needs.memory = gib(5);
  EXPECT_EQ(words(needs), "it would fit now with --gpus 1");
}

TEST_F(RemedyTest, WhatIsSuggestedFits) {
  const Remedy remedy = find_remedy(devices_, Needs{}, kUsualPlacement);
  Needs changed;
  changed.memory = remedy.memory;
  EXPECT_TRUE(devices_.place(changed, kUsualPlacement).has_value());
  changed.memory += Bytes{std::int64_t{1} << 20};
  EXPECT_FALSE(devices_.place(changed, kUsualPlacement).has_value());
}

}  // namespace
}  // namespace berth
