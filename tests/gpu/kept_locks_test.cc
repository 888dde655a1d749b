// Devices that a daemon keeps locked between two jobs, and gives up to whoever asks.
#include <gtest/gtest.h>
#include <signal.h>

#include "gpu/locks_fixture.h"

namespace berth {
namespace {

class KeptLocksTest : public DeviceLocksTest {
 protected:
  std::unique_ptr<DeviceLocks> daemon() const {
    auto locks = DeviceLocks::open({"daemon", "home", "berth daemon of home", true}, devices_);
    EXPECT_TRUE(locks.has_value()) << locks.error().message;
    return locks ? std::move(*locks) : nullptr;
  }
  /// Tries until it has the device, as a driver does; the keeper is served in between.
  void take_from(DeviceLocks& keeper, DeviceLocks& other, std::uint32_t device) const {
    while (!other.try_acquire(ids({device})).empty()) {
      wait_freed(keeper);
      wait_freed(other);
    }
  }
  std::vector<std::string> names_of(std::uint32_t device) const {
    return files(lock_key(devices_[device]));
  }
  mode_t mode(std::uint32_t device) const {
    struct stat info {};
    const std::vector<std::string> names = names_of(device);
    EXPECT_EQ(names.size(), 1U);
    return !names.empty() && ::stat((root_ + '/' + names[0]).c_str(), &info) == 0
               ? info.st_mode & 0777U
               : 0;
  }
};

TEST_F(KeptLocksTest, TheSameLockServesTheNextJob) {
  const auto keeper = daemon();
  EXPECT_TRUE(take(*keeper, {0}));
  const std::vector<std::string> before = names_of(0);
  keeper->release(DeviceId{0});
  EXPECT_FALSE(keeper->holds(DeviceId{0}));
  EXPECT_EQ(mode(0), kModeKept);
  EXPECT_TRUE(list_lock_holders(root_).empty()) << "nobody uses the device";
  EXPECT_TRUE(take(*keeper, {0}));
  EXPECT_EQ(names_of(0), before);
  EXPECT_EQ(mode(0), kModeHolding);
  EXPECT_EQ(list_lock_holders(root_).size(), 1U);
}

TEST_F(KeptLocksTest, WhoeverAsksGetsIt) {
  const auto keeper = daemon();
  const auto other = open();
  EXPECT_TRUE(take(*keeper, {0, 1}));
  keeper->release(DeviceId{0});
  keeper->release(DeviceId{1});
  const auto obstacles = other->try_acquire(ids({0}));
  ASSERT_EQ(obstacles.size(), 1U);
  EXPECT_TRUE(obstacles[0].passing) << "not worth a word";
  EXPECT_FALSE(obstacles[0].holder.has_value());
  take_from(*keeper, *other, 0);
  EXPECT_TRUE(other->holds(DeviceId{0}));
  EXPECT_EQ(mode(1), kModeKept) << "nobody has asked for that one";
  EXPECT_FALSE(take(*keeper, {0}));
}

TEST_F(KeptLocksTest, WhatWasAskedForDuringItsUseIsGivenBack) {
  const auto keeper = daemon();
  const auto other = open();
  EXPECT_TRUE(take(*keeper, {0}));
  EXPECT_FALSE(take(*other, {0}));
  EXPECT_TRUE(wait_freed(*keeper).empty());  // it hears the wish
  keeper->release(DeviceId{0});
  EXPECT_EQ(wait_freed(*other), ids({0}));
  EXPECT_TRUE(take(*other, {0}));
}

TEST_F(KeptLocksTest, AnUnheardWishIsHeardWhenTheDeviceIsKept) {
  const auto keeper = daemon();
  const auto other = open();
  EXPECT_TRUE(take(*keeper, {0}));
  EXPECT_FALSE(take(*other, {0}));
  keeper->release(DeviceId{0});
  take_from(*keeper, *other, 0);
  EXPECT_TRUE(other->holds(DeviceId{0}));
}

TEST_F(KeptLocksTest, ADeadKeeperKeepsNothing) {
  Child keeper([this] {
    const auto locks = daemon();
    const bool held = locks->try_acquire(ids({0})).empty();
    locks->release(DeviceId{0});
    (void)!::write(STDOUT_FILENO, held ? "kept\n" : "taken", 5);
    ::pause();
    return 0;
  });
  EXPECT_EQ(keeper.read_line(), "kept");
  EXPECT_EQ(mode(0), kModeKept);
  keeper.signal(SIGKILL);
  (void)keeper.wait();
  EXPECT_TRUE(take(*open(), {0}));
}

TEST_F(KeptLocksTest, AKeptLockThatWasRemovedIsNoLock) {
  const auto keeper = daemon();
  EXPECT_TRUE(take(*keeper, {0}));
  keeper->release(DeviceId{0});
  EXPECT_EQ(::unlink((root_ + '/' + names_of(0).at(0)).c_str()), 0);
  const auto other = open();
  EXPECT_TRUE(take(*other, {0}));
  EXPECT_FALSE(take(*keeper, {0}));
}

TEST_F(KeptLocksTest, TheEndOfAKeeperGivesItBack) {
  auto keeper = daemon();
  EXPECT_TRUE(take(*keeper, {0}));
  keeper->release(DeviceId{0});
  keeper.reset();
  EXPECT_TRUE(names_of(0).empty());
}

}  // namespace
}  // namespace berth
