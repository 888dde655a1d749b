#include "daemon/daemon_devices.h"

#include <gtest/gtest.h>

#include "daemon/parts.h"

namespace berth {
namespace {

DeviceSpec named(const std::string& name) {
  DeviceSpec spec;
  spec.name = name;
  return spec;
}

TEST(DaemonDevices, FindSlotsByName) {
  DeviceTable table(DeviceTable::Limits{});
  for (const char* name : {"0", "1", "1"}) {
    table.add(named(name));
  }
  using Slots = std::vector<DeviceId>;
  EXPECT_EQ(DaemonDevices::slots(table, {"0"}), Slots{DeviceId{0}});
  EXPECT_EQ(DaemonDevices::slots(table, {"1", "1"}), (Slots{DeviceId{1}, DeviceId{2}}));
  EXPECT_EQ(DaemonDevices::slots(table, {"1", "7"}), Slots{DeviceId{1}}) << "7 is gone";
}

class DaemonDevicesTest : public PartsTest {};

TEST_F(DaemonDevicesTest, WhatUsersWantOutlivesTheDaemon) {
  {
    DaemonParts before(folder_);
    ASSERT_TRUE(before.restore());
    before.driver->devices().set_drained(DeviceId{1}, true, before.clock.now());
    DaemonParts::must(before.devices.save(before.state.store(), *before.driver));
    before.turns->commit_now();
    EXPECT_TRUE(before.turn());
  }
  DaemonParts parts(folder_);
  DaemonParts::must(parts.devices.restore(parts.state.store(), *parts.driver, parts.state.log(),
                                          parts.clock.now()));
  EXPECT_FALSE(parts.driver->devices().states()[0].drained);
  EXPECT_TRUE(parts.driver->devices().states()[1].drained);
  EXPECT_EQ(parts.devices.sources(), std::vector<std::string>{"sim:2x8GiB"});
}

}  // namespace
}  // namespace berth
