// Fragmentation gradient descent by the formula of the paper (Weng et al., ATC '23), with cases
// that were worked out by hand.
#include "core/fragmentation.h"

#include <gtest/gtest.h>

#include "core/scheduler.h"
#include "policy/policies.h"

namespace berth {
namespace {

Needs part(std::uint32_t share, std::uint32_t gpus = 1) {
  Needs needs;
  needs.share = share;
  needs.gpus = gpus;
  return needs;
}

Needs whole(std::uint32_t gpus) { return part(0, gpus); }

NeedsMix mix_of(const std::vector<Needs>& jobs) {
  NeedsMix mix;
  mix.keep(true);
  for (const Needs& needs : jobs) {
    mix.add(needs);
  }
  return mix;
}

TEST(Fragmentation, IsWhatAJobCannotUse) {
  // A job of 0.5: devices with 0.3 and 0.2 are of no use to it.
  EXPECT_EQ(fragmentation({1000, 600, 300, 200}, mix_of({part(500)}), 4), 500);
  // Two whole devices are not there: nothing on the machine is of use.
  EXPECT_EQ(fragmentation({1000, 600, 300, 200}, mix_of({whole(2)}), 4), 2100);
  EXPECT_EQ(fragmentation({1000, 1000, 300}, mix_of({whole(2)}), 4), 300);
  // Two of 0.6 are.
  EXPECT_EQ(fragmentation({1000, 600, 300, 200}, mix_of({part(600, 2)}), 4), 500);
  // The mix: each job counts once.
  EXPECT_EQ(fragmentation({1000, 600, 300, 200}, mix_of({part(500), part(500), whole(2)}), 4),
            3100);
  // More devices than any machine has are found one by one.
  EXPECT_EQ(fragmentation({1000, 600}, mix_of({whole(16)}), 4), 600);
}

TEST(Fragmentation, CountsJobsOnceAddedAndNoMoreOnceRemoved) {
  NeedsMix mix = mix_of({part(500), whole(2)});
  mix.remove(whole(2));
  EXPECT_EQ(fragmentation({1000, 300}, mix, 4), 300);
  mix.remove(part(500));
  EXPECT_TRUE(mix.wanting_more().empty());
}

TEST(Fragmentation, MeasuresClaimsByTheMemoryOfADevice) {
  NeedsMix mix;
  mix.keep(true);
  Needs needs;
  needs.memory = gibibytes(8);
  mix.add(needs);
  mix.measure_by(gibibytes(16));
  EXPECT_EQ(fragmentation({1000, 499}, mix, 4), 499);
  EXPECT_EQ(fragmentation({1000, 500}, mix, 4), 0);
}

/// Where the last of these jobs goes, each on a device of its own number: machines of two devices.
class Fgd : public testing::TestWithParam<Placement> {
 protected:
  Fgd() : scheduler_(make_fifo(), config()) {}

  static Scheduler::Config config() {
    Scheduler::Config config;
    config.placement = GetParam();
    return config;
  }

  void add_machine(std::uint16_t node, int devices) {
    for (int i = 0; i < devices; ++i) {
      scheduler_.add_device({std::to_string(++devices_), "", "", {}, {node, 0, 0}});
    }
  }
  /// The devices on which it starts; empty: it waits.
  std::vector<DeviceId> submit(Needs needs, std::string only = "") {
    Submit command;
    command.spec.needs = std::move(needs);
    if (!only.empty()) {
      command.spec.needs.only = {only};
    }
    EXPECT_TRUE(scheduler_.apply(command, Time{}).has_value());
    const std::vector<Action>& actions = scheduler_.step(Time{});
    return actions.empty() ? std::vector<DeviceId>{} : std::get<StartJob>(actions[0]).devices;
  }

  Scheduler scheduler_;
  int devices_ = 0;
};

// Machine 1 has 0.6 and a whole device free, machine 2 has 0.7 free and nothing else. Jobs of 0.6
// and of 0.7 are about. A job of 0.1:
// - on the 0.6 it leaves 0.5, for which neither has a use: F grows from 600 (for the one of 0.7) to
//   500 for each of the five jobs;
// - on the 0.7 it leaves 0.6: that adds 600 for each job of 0.7.
// bestfit takes the 0.6, because it is the tighter one.
TEST_P(Fgd, KeepsWhatTheMixCanUse) {
  add_machine(1, 2);
  add_machine(2, 2);
  submit(part(400), "1");  // 0.6 left
  submit(part(300), "3");  // 0.7 left
  submit(whole(1), "4");
  // Five that run and want 0.6, on a machine that they fill, and so take no part in the choice.
  for (int i = 0; i < 5; ++i) {
    add_machine(static_cast<std::uint16_t>(3 + i), 1);
    submit(part(600), std::to_string(5 + i));
    submit(part(400), std::to_string(5 + i));
  }
  const std::vector<DeviceId> chosen = submit(part(100));
  // F for the mix of 7 × 0.4 (one of them here), 5 × 0.6, 0.3, a whole and the 0.1 itself, times
  // 1000:
  //   machine 1 {1.0, 0.6}: 600 for the whole one;           with 0.5 left: 500 × 6, so + 2400
  //   machine 2 {0.7}: 700 for the whole one;                with 0.6 left: 600 × 1, so − 100
  // and for a job of both devices, which is reckoned with, each is 100 less.
  EXPECT_EQ(chosen, std::vector{GetParam() == Placement::Fgd ? DeviceId{2} : DeviceId{0}});
}

// A job of two whole devices is about. A job of one goes to the machine that has an odd one left.
TEST_P(Fgd, KeepsPairsForPairs) {
  add_machine(1, 2);
  submit(whole(2));
  add_machine(2, 2);
  add_machine(3, 4);
  for (const char* taken : {"5", "6", "7"}) {
    submit(whole(1), taken);
  }
  EXPECT_EQ(submit(whole(1)),
            std::vector{GetParam() == Placement::Fgd ? DeviceId{7} : DeviceId{2}});
}

// Nothing but small jobs was seen yet: they still leave a machine untouched.
TEST_P(Fgd, KeepsAMachineWholeThoughNobodyWantsItYet) {
  add_machine(1, 4);
  add_machine(2, 2);
  EXPECT_EQ(submit(whole(1)),
            std::vector{GetParam() == Placement::Fgd ? DeviceId{4} : DeviceId{0}});
}

INSTANTIATE_TEST_SUITE_P(Against, Fgd, testing::Values(Placement::Fgd, Placement::BestFit),
                         [](const auto& which) {
                           return std::string(placement_name(which.param));
                         });

}  // namespace
}  // namespace berth
