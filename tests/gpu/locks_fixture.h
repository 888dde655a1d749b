// Owners of device locks, in this process and in others, and the folder that they share.
#pragma once

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>

#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

#include "gpu/fixture.h"
#include "gpu/locks/device_locks.h"

namespace berth {

inline constexpr int kPollDeadline = 20'000;  // milliseconds

inline DeviceInfo locked_device(const std::string& name) {
  DeviceInfo info;
  info.spec.name = name;
  return info;
}

class DeviceLocksTest : public testing::Test {
 protected:
  std::unique_ptr<DeviceLocks> open(const std::string& identity = "",
                                    const std::string& task = "a task") const {
    auto locks = DeviceLocks::open({"run", identity, task}, devices_);
    EXPECT_TRUE(locks.has_value()) << locks.error().message;
    return locks ? std::move(*locks) : nullptr;
  }

  static std::vector<DeviceId> ids(std::initializer_list<std::uint32_t> numbers) {
    std::vector<DeviceId> devices;
    for (const std::uint32_t number : numbers) {
      devices.push_back(DeviceId{number});
    }
    return devices;
  }

  /// Whether it got all of them.
  static bool take(DeviceLocks& locks, std::initializer_list<std::uint32_t> numbers) {
    const auto obstacles = locks.try_acquire(ids(numbers));
    for (const DeviceLocks::Obstacle& obstacle : obstacles) {
      EXPECT_TRUE(obstacle.holder.has_value()) << obstacle.error;
    }
    return obstacles.empty();
  }

  /// What is freed before the deadline.
  static std::vector<DeviceId> wait_freed(DeviceLocks& locks) {
    pollfd ready{locks.event_fd(), POLLIN, 0};
    EXPECT_EQ(::poll(&ready, 1, kPollDeadline), 1) << "nothing was freed";
    return locks.freed();
  }

  /// Another process that takes these devices, says "held", and lives until it is killed.
  std::unique_ptr<Child> holder(std::initializer_list<std::uint32_t> numbers,
                                const std::string& identity = "") const {
    const std::vector<DeviceId> wanted = ids(numbers);
    auto child = std::make_unique<Child>([this, wanted, identity] {
      const auto locks = open(identity);
      const bool held = locks->try_acquire(wanted).empty();
      (void)!::write(STDOUT_FILENO, held ? "held\n" : "taken", 5);
      ::pause();
      return 0;
    });
    EXPECT_EQ(child->read_line(), "held");
    return child;
  }

  /// The files for a device.
  std::vector<std::string> files(const std::string& key) const {
    const Fd folder(::open(root_.c_str(), O_RDONLY | O_DIRECTORY));
    return names_in(folder.get(), lock_prefix(key)).value_or(std::vector<std::string>());
  }
  /// A file in the lock folder as if a berth had made it.
  std::string make(const std::string& key, const std::string& name, mode_t mode) const {
    std::string path = root_ + "/" + lock_prefix(key) + name;
    folder_.write("locks/" + lock_prefix(key) + name, "run\t1\t1\t1\tdead\n");
    EXPECT_EQ(::chmod(path.c_str(), mode), 0);
    return path;
  }

  TempFolder folder_;
  std::string root_ = folder_.path() + "/locks";
  ScopedVariable variable_{"BERTH_LOCKS", root_.c_str()};
  ScopedVariable no_leases_{"BERTH_LEASES", nullptr};
  std::vector<DeviceInfo> devices_{locked_device("0"), locked_device("1"), locked_device("2")};
};

}  // namespace berth
