// Device locks between processes: who has what, what a death frees, and what may lie in the way.
#include "gpu/locks/device_locks.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <chrono>
#include <cstdio>
#include <set>

#include "gpu/locks_fixture.h"

namespace berth {
namespace {

TEST_F(DeviceLocksTest, TwoOwnersNeverHaveOneDevice) {
  const auto first = open();
  const auto second = open();
  EXPECT_TRUE(take(*first, {0, 1}));
  EXPECT_TRUE(take(*first, {0}));  // again is nothing new
  EXPECT_FALSE(take(*second, {1}));
  EXPECT_TRUE(take(*second, {2}));
  EXPECT_FALSE(take(*first, {2}));
  EXPECT_TRUE(first->holds(DeviceId{0}));
  EXPECT_FALSE(second->holds(DeviceId{0}));
}

TEST_F(DeviceLocksTest, AllOrNothing) {
  const auto first = open();
  const auto second = open();
  const auto third = open();
  EXPECT_TRUE(take(*first, {1}));
  const auto taken = second->try_acquire(ids({0, 1, 2}));
  ASSERT_EQ(taken.size(), 1U);
  EXPECT_EQ(taken.front().device, DeviceId{1});
  EXPECT_TRUE(take(*third, {0, 2}));
}

TEST_F(DeviceLocksTest, ASlotMayStandForSeveralDevicesOrNone) {
  const std::vector<DeviceInfo> slots = {locked_device("1,2"), locked_device(""),
                                         locked_device("2,3")};
  const auto first = open();
  const auto second = DeviceLocks::open({"run", "", "slots"}, slots);
  ASSERT_TRUE(second);
  EXPECT_TRUE(take(**second, {1}));
  EXPECT_TRUE((*second)->paths(ids({1})).empty());
  EXPECT_TRUE(take(*first, {2}));
  EXPECT_FALSE(take(**second, {0}));
  EXPECT_NE((*second)->obstacle(DeviceId{2}), nullptr);
  EXPECT_TRUE(take(*first, {1}));  // the slot that was refused keeps none of its devices
  first->release(DeviceId{2});
  first->release(DeviceId{1});
  EXPECT_TRUE(take(**second, {0}));
  EXPECT_EQ((*second)->paths(ids({0})).size(), 2U);
  EXPECT_TRUE(take(**second, {2}));  // its own device again
  (*second)->release(DeviceId{0});
  EXPECT_TRUE(take(*first, {1}));
  EXPECT_FALSE(take(*first, {2}));
}

TEST_F(DeviceLocksTest, ReleaseTellsThoseWhoWait) {
  const auto first = open();
  const auto second = open();
  EXPECT_TRUE(take(*first, {0, 1}));
  EXPECT_FALSE(take(*second, {1}));
  EXPECT_TRUE(second->freed().empty());
  first->release(DeviceId{1});
  EXPECT_EQ(wait_freed(*second), ids({1}));
  EXPECT_TRUE(take(*second, {1}));
  EXPECT_TRUE(files("id-1").size() == 1 && files("id-0").size() == 1);
}

TEST_F(DeviceLocksTest, SaysWhoHasIt) {
  const auto first = open("", "train.py \x1b[31m\n--lr 1");
  const auto second = open();
  EXPECT_TRUE(take(*first, {1}));
  const auto taken = second->try_acquire(ids({1}));
  ASSERT_TRUE(taken.size() == 1 && taken.front().holder);
  const LockHolder& holder = *taken.front().holder;
  EXPECT_EQ(holder.uid, ::geteuid());
  EXPECT_EQ(holder.pid, ::getpid());
  EXPECT_EQ(holder.kind, "run");
  EXPECT_EQ(holder.device, "1");
  EXPECT_EQ(holder.task, "train.py  [31m --lr 1");
  EXPECT_GT(holder.started, 1'700'000'000);
  EXPECT_NE(describe(holder).find("run, process"), std::string::npos);
  ASSERT_NE(second->obstacle(DeviceId{1}), nullptr);
  EXPECT_EQ(describe(*second->obstacle(DeviceId{1}), "1"),
            "GPU 1 is in use by " + describe(holder));
  const std::vector<LockHolder> all = list_lock_holders(root_);
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all.front().path, holder.path);
  EXPECT_TRUE(list_lock_holders(root_ + "/nowhere").empty());
}

TEST_F(DeviceLocksTest, DeathFreesAtOnce) {
  const auto child = holder({0, 1});
  const auto locks = open();
  EXPECT_FALSE(take(*locks, {0}));
  EXPECT_FALSE(take(*locks, {1}));
  child->signal(SIGKILL);
  std::set<DeviceId> freed;
  while (freed.size() < 2) {
    for (const DeviceId one : wait_freed(*locks)) {
      freed.insert(one);
    }
    ASSERT_FALSE(freed.empty());
  }
  EXPECT_TRUE(take(*locks, {0, 1}));
  EXPECT_EQ(files("id-0").size(), 1U);  // the stale file is gone
}

TEST_F(DeviceLocksTest, AnOwnerComesBackWhileItsProcessesHoldOn) {
  // The process stands for a shim that outlived its daemon.
  const auto shim = holder({0}, "home");
  const auto stranger = open("elsewhere");
  EXPECT_FALSE(take(*stranger, {0}));
  auto again = open("home");
  EXPECT_TRUE(take(*again, {0}));
  again.reset();
  EXPECT_FALSE(take(*stranger, {0}));  // the shim has it still
  shim->signal(SIGKILL);
  EXPECT_EQ(wait_freed(*stranger), ids({0}));
  EXPECT_TRUE(take(*stranger, {0}));
  again = open("home");
  EXPECT_FALSE(take(*again, {0}));
}

TEST_F(DeviceLocksTest, WhoLocksThePathKeepsTheDevice) {
  auto first = open("home");
  const auto second = open("elsewhere");
  EXPECT_TRUE(take(*first, {2}));
  const std::vector<std::string> paths = first->paths(ids({2, 2}));
  ASSERT_EQ(paths.size(), 1U);
  Fd shim(::open(paths.front().c_str(), O_RDONLY | O_CLOEXEC));
  ASSERT_EQ(::flock(shim.get(), LOCK_SH | LOCK_NB), 0);
  first.reset();
  EXPECT_FALSE(take(*second, {2}));
  shim.reset();
  EXPECT_EQ(wait_freed(*second), ids({2}));
}

TEST_F(DeviceLocksTest, ABerthInsideAJobMayUseTheJobsDevices) {
  const auto outer = open();
  EXPECT_TRUE(take(*outer, {0, 1}));
  const std::string leases = outer->leases(ids({1}));
  {
    const ScopedVariable variable("BERTH_LEASES", leases.c_str());
    const auto inner = open();
    EXPECT_FALSE(take(*inner, {0}));  // another job's
    EXPECT_TRUE(take(*inner, {1}));
    EXPECT_EQ(inner->leases(ids({1})), leases + ":" + inner->paths(ids({1})).front());
    EXPECT_FALSE(take(*open(), {1}));  // another of the job's: they agree among themselves
  }
  EXPECT_TRUE(outer->holds(DeviceId{1}));
  EXPECT_FALSE(take(*open(), {1}));
}

TEST_F(DeviceLocksTest, AnIdTwiceIsOneDevice) {
  devices_ = {locked_device("0"), locked_device("0"), locked_device("1")};
  const auto first = open();
  const auto second = open();
  EXPECT_TRUE(take(*first, {0}));
  EXPECT_TRUE(take(*first, {1}));
  EXPECT_EQ(first->descriptors(ids({0, 1})).size(), 1U);
  const auto taken = second->try_acquire(ids({1}));
  EXPECT_EQ(taken.size(), 2U);  // both slots
  first->release(DeviceId{0});
  EXPECT_FALSE(take(*second, {0}));
  first->release(DeviceId{1});
  EXPECT_EQ(wait_freed(*second), ids({0, 1}));
}

TEST_F(DeviceLocksTest, StaleFilesAreNoObstacle) {
  const auto first = open();
  EXPECT_TRUE(take(*first, {0}));
  make("id-1", "run-0-dead", kModeHolding);
  make("id-1", "run-0-died-early", kModeAsking);
  make("id-1", "run-0-hidden", kModeHidden);
  EXPECT_TRUE(take(*first, {1}));
  EXPECT_EQ(files("id-1").size(), 2U);  // what was hidden may be another's who is about to ask
}

TEST_F(DeviceLocksTest, WhatIsNoLockIsLeftAlone) {
  folder_.write("victim", "precious");
  EXPECT_TRUE(take(*open(), {0}));  // makes the folder
  const std::string path = root_ + "/" + lock_prefix("id-0");
  ASSERT_EQ(::symlink((folder_.path() + "/victim").c_str(), (path + "link").c_str()), 0);
  ASSERT_EQ(::mkfifo((path + "pipe").c_str(), 0666), 0);
  ASSERT_EQ(::mkdir((path + "folder").c_str(), 0777), 0);
  const Fd victim(::open((folder_.path() + "/victim").c_str(), O_RDONLY));
  ASSERT_EQ(::flock(victim.get(), LOCK_EX), 0);
  EXPECT_TRUE(take(*open("home"), {0}));
  EXPECT_EQ(files("id-0").size(), 3U);
  EXPECT_EQ(std::filesystem::file_size(folder_.path() + "/victim"), 8U);
}

TEST_F(DeviceLocksTest, WhoeverHasALockIsNamed) {
  if (::geteuid() != 0) {
    GTEST_SKIP() << "only root can be two users";
  }
  ASSERT_EQ(::chmod(folder_.path().c_str(), 0755), 0);
  const auto locks = open();
  const std::string path = make("id-0", "run-0-dead", kModeHolding);
  const Child stranger([&] {
    const Fd file(::open(path.c_str(), O_RDONLY));
    if (::setuid(65534) != 0 || ::flock(file.get(), LOCK_SH) != 0) {
      return 1;
    }
    (void)!::write(STDOUT_FILENO, "locked\n", 7);
    ::pause();
    return 0;
  });
  ASSERT_EQ(stranger.read_line(), "locked");
  const auto obstacles = locks->try_acquire(ids({0}));
  ASSERT_TRUE(obstacles.size() == 1 && obstacles.front().holder);
  EXPECT_EQ(obstacles.front().holder->uid, 65534U);
  EXPECT_EQ(obstacles.front().holder->pid, stranger.pid());
}

/// Files of another user cannot be removed: nobody is to be kept busy, or without a descriptor, by
/// very many of them.
TEST_F(DeviceLocksTest, VeryManyFilesAreAnError) {
  const auto locks = open();
  for (int i = 0; i < 1001; ++i) {
    make("id-0", fmt::format("run-0-{}", i), kModeHolding);
  }
  const auto obstacles = locks->try_acquire(ids({0}));
  ASSERT_EQ(obstacles.size(), 1U);
  EXPECT_NE(obstacles.front().error.find("1002 files for this device"), std::string::npos)
      << obstacles.front().error;
  EXPECT_TRUE(take(*locks, {1}));
}

TEST_F(DeviceLocksTest, AnErrorIsTriedAgain) {
  const auto locks = open();
  ASSERT_EQ(::chmod(root_.c_str(), 0777), 0);  // anybody could remove locks
  const auto obstacles = locks->try_acquire(ids({0}));
  ASSERT_EQ(obstacles.size(), 1U);
  EXPECT_FALSE(obstacles.front().holder);
  EXPECT_NE(obstacles.front().error.find("chmod 1777 " + root_), std::string::npos);
  EXPECT_NE(locks->obstacle(DeviceId{0}), nullptr);
  ASSERT_EQ(::chmod(root_.c_str(), 01777), 0);
  EXPECT_EQ(wait_freed(*locks), ids({0}));
  EXPECT_EQ(locks->obstacle(DeviceId{0}), nullptr);
  EXPECT_TRUE(take(*locks, {0}));
}

TEST_F(DeviceLocksTest, TooManyOpenFilesIsNoFreeDevice) {
  const auto holds = holder({0});
  const auto locks = open();
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  // Room for our own file, and for no other.
  const int next = ::dup(STDIN_FILENO);
  ::close(next);
  const rlimit tight{static_cast<rlim_t>(next) + 1, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &tight), 0);
  const auto obstacles = locks->try_acquire(ids({0}));
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  ASSERT_EQ(obstacles.size(), 1U);
  EXPECT_NE(obstacles.front().error.find("Too many open files"), std::string::npos);
}

TEST_F(DeviceLocksTest, ARemovedLockIsPutBack) {
  const auto first = open();
  EXPECT_TRUE(take(*first, {0}));
  EXPECT_TRUE(first->restore().empty());
  ASSERT_EQ(::unlink(first->paths(ids({0})).front().c_str()), 0);
  std::vector<std::string> told;
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(kPollDeadline);
  while (told.empty() && std::chrono::steady_clock::now() < end) {
    told = first->restore();
  }
  ASSERT_EQ(told.size(), 1U);
  EXPECT_NE(told.front().find("put back"), std::string::npos) << told.front();
  EXPECT_FALSE(take(*open(), {0}));
}

TEST_F(DeviceLocksTest, DevicesMayJoin) {
  const auto locks = open("home");
  EXPECT_TRUE(take(*locks, {0}));
  const auto other = open();
  EXPECT_TRUE(take(*other, {1}));
  EXPECT_FALSE(take(*locks, {1}));
  devices_.push_back(locked_device("3"));
  locks->extend(devices_);
  EXPECT_TRUE(locks->holds(DeviceId{0}));
  EXPECT_TRUE(take(*locks, {3}));
  other->release(DeviceId{1});
  EXPECT_EQ(wait_freed(*locks), ids({1}));  // what was waited for before is still
}

/// Each process takes the device again and again, some with another one in any order, and with it a
/// file that none but the holder may make. All get it as often as they ask: nobody stands still.
TEST_F(DeviceLocksTest, ARaceHasOneWinnerAtATime) {
  constexpr int kRacers = 8;
  constexpr int kTimes = 40;
  const std::string proof = folder_.path() + "/proof";
  std::vector<std::unique_ptr<Child>> racers;
  for (int i = 0; i < kRacers; ++i) {
    const std::vector<DeviceId> wanted = i % 3 == 0   ? ids({0, 1})
                                         : i % 3 == 1 ? ids({1, 0})
                                                      : ids({0});
    racers.push_back(std::make_unique<Child>([&, wanted] {
      const auto locks = open();
      for (int had = 0; had < kTimes;) {
        if (!locks->try_acquire(wanted).empty()) {
          pollfd ready{locks->event_fd(), POLLIN, 0};
          if (::poll(&ready, 1, kPollDeadline) != 1) {
            return 2;  // all stand still
          }
          (void)locks->freed();
          continue;
        }
        const Fd alone(::open(proof.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
        if (!alone || ::unlink(proof.c_str()) != 0) {
          return 1;  // two have it
        }
        for (const DeviceId device : wanted) {
          locks->release(device);
        }
        ++had;
      }
      return 0;
    }));
  }
  for (const auto& racer : racers) {
    EXPECT_EQ(racer->wait(), 0);
  }
  EXPECT_TRUE(files("id-0").empty());
}

/// A stranger who locks every file that appears, as fast as can be, without a lease.
TEST_F(DeviceLocksTest, AStrangerInTheWayIsOvercome) {
  const auto locks = open();
  const Child stranger([&] {
    const Fd folder(::open(root_.c_str(), O_RDONLY | O_DIRECTORY));
    (void)!::write(STDOUT_FILENO, "ready\n", 6);
    std::vector<Fd> held;
    for (;;) {
      const auto names = names_in(folder.get(), "berth-");
      for (const std::string& name : *names) {
        Fd file(::openat(folder.get(), name.c_str(), O_RDONLY));
        if (file && ::flock(file.get(), LOCK_EX | LOCK_NB) == 0) {
          held.push_back(std::move(file));
        }
      }
      if (held.size() > 500) {
        held.clear();
      }
    }
    return 0;
  });
  ASSERT_EQ(stranger.read_line(), "ready");
  for (int i = 0; i < 20; ++i) {
    while (!locks->try_acquire(ids({0})).empty()) {
      if (wait_freed(*locks).empty() && HasFailure()) {
        return;
      }
    }
    locks->release(DeviceId{0});
  }
}

/// As the race above, but the others stop in the midst of asking: who is left gets the device.
TEST_F(DeviceLocksTest, WhoAsksAndStopsIsPassedBy) {
  const auto locks = open();
  make("id-0", "run-0-0", kModeAsking);  // earlier in the order, and later
  make("id-0", "schedule-0-f", kModeAsking);
  EXPECT_TRUE(take(*locks, {0}));
}

TEST_F(DeviceLocksTest, SomebodyMayTidyUp) {
  const auto first = open();
  EXPECT_TRUE(take(*first, {0}));
  first->release(DeviceId{0});
  std::filesystem::remove_all(root_);
  EXPECT_TRUE(take(*first, {0}));
  EXPECT_FALSE(take(*open(), {0}));
}

TEST_F(DeviceLocksTest, FoldersAreForEverybodyWhateverTheUmask) {
  const mode_t before = ::umask(077);
  const auto locks = open();
  EXPECT_TRUE(take(*locks, {0}));
  ::umask(before);
  struct stat info {};
  ASSERT_EQ(::stat(root_.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777, 01777U);
  ASSERT_EQ(::stat((root_ + "/" + files("id-0").front()).c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777, 0444U);
}

/// As a user without root's powers where the test has them.
int as_nobody(const std::function<int()>& body) {
  Child child([&] {
    if (::geteuid() == 0 && (::setgid(65534) != 0 || ::setuid(65534) != 0)) {
      return 90;
    }
    return body();
  });
  const int status = child.wait();
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST_F(DeviceLocksTest, AFolderThatCannotBeWrittenIsAClearError) {
  ASSERT_EQ(::chmod(folder_.path().c_str(), 0755), 0);
  ASSERT_EQ(::mkdir(root_.c_str(), 0755), 0);
  ASSERT_EQ(::chmod(root_.c_str(), 0555), 0);
  EXPECT_EQ(as_nobody([&] {
              const auto locks = DeviceLocks::open({"run", "", ""}, devices_);
              return !locks && locks.error().message.find("cannot be written") != std::string::npos
                         ? 0
                         : 1;
            }),
            0);
  ::rmdir(root_.c_str());
  ASSERT_EQ(::symlink("/tmp", root_.c_str()), 0);
  const auto linked = DeviceLocks::open({"run", "", ""}, devices_);
  ASSERT_FALSE(linked.has_value());
  EXPECT_NE(linked.error().message.find("not a folder"), std::string::npos);
}

TEST_F(DeviceLocksTest, UsersMeet) {
  if (::geteuid() != 0) {
    GTEST_SKIP() << "only root can be two users";
  }
  ASSERT_EQ(::chmod(folder_.path().c_str(), 0755), 0);
  auto mine = open();
  EXPECT_TRUE(take(*mine, {0}));
  const auto other_user = [&] {
    const auto locks = open();
    const auto taken = locks->try_acquire(ids({0}));
    if (taken.size() != 1 || !taken.front().holder || taken.front().holder->uid != 0) {
      return 1;
    }
    return take(*locks, {1}) && list_lock_holders(root_).size() == 2 ? 0 : 2;
  };
  EXPECT_EQ(as_nobody(other_user), 0);
  // A dead file of root's cannot be removed by nobody, and need not be.
  make("id-2", "run-0-dead", kModeHolding);
  EXPECT_EQ(as_nobody([&] { return take(*open(), {2}) ? 0 : 1; }), 0);
  EXPECT_EQ(files("id-2").size(), 1U);
}

/// Mode, owner, and whether berth may use such a folder.
TEST_F(DeviceLocksTest, AFolderInWhichOthersCouldRemoveLocksIsRefused) {
  if (::geteuid() != 0) {
    GTEST_SKIP() << "only root can be two users";
  }
  struct Row {
    mode_t mode;
    uid_t owner;
    bool safe;
  };
  for (const Row& row :
       {Row{01777, 0, true}, Row{0777, 0, false}, Row{0755, 0, true}, Row{0775, 0, false},
        Row{01775, 0, true}, Row{01777, 65534, true}, Row{0777, 65534, false},
        Row{0755, 65534, false}, Row{01775, 65534, false}}) {
    ASSERT_TRUE(::mkdir(root_.c_str(), 0700) == 0 && ::chmod(root_.c_str(), row.mode) == 0 &&
                ::chown(root_.c_str(), row.owner, 0) == 0);
    const auto locks = DeviceLocks::open({"run", "", ""}, devices_);
    EXPECT_EQ(locks.has_value(), row.safe) << fmt::format("{:o} {}", row.mode, row.owner);
    if (!locks) {
      EXPECT_NE(
          locks.error().message.find(row.owner == 0 ? ": root must say `chmod 1777"
                                                    : ": nobody or root must say `chmod 1777"),
          std::string::npos)
          << locks.error().message;
    }
    ASSERT_EQ(::rmdir(root_.c_str()), 0);
  }
}

TEST(LockFolder, KeysAreSafeFileNames) {
  EXPECT_EQ(escape_file_name("GPU-79ace000-1"), "GPU-79ace000-1");
  EXPECT_EQ(escape_file_name("../../etc/passwd"), "%2E.%2F..%2Fetc%2Fpasswd");
  EXPECT_EQ(escape_file_name(".."), "%2E.");
  EXPECT_EQ(escape_file_name("."), "%2E");
  EXPECT_EQ(escape_file_name(""), "%");
  EXPECT_EQ(escape_file_name("a b\n%"), "a%20b%0A%25");
  const std::string one = escape_file_name(std::string(5000, 'x') + "1");
  const std::string two = escape_file_name(std::string(5000, 'x') + "2");
  EXPECT_NE(one, two);
  EXPECT_LE(one.size(), 255U);
}

TEST(LockFolder, EveryKindOfDeviceHasAKey) {
  DeviceInfo info = locked_device("0");
  EXPECT_EQ(lock_key(info), "id-0");
  info.pci_bus = "0000:3b:00.0";
  EXPECT_EQ(lock_key(info), "pci-0000:3b:00.0");
  info.spec.uuid = "GPU-1";
  EXPECT_EQ(lock_key(info), "GPU-1");
  info.realm = "sim-1-2";
  EXPECT_EQ(lock_key(info), "sim-1-2-0");
}

TEST(LockFolder, SimulatedDevicesOfTwoHomesDoNotMeet) {
  const auto key = [](const TempFolder& home) {
    const ScopedVariable variable("BERTH_HOME", home.path().c_str());
    const auto devices = open_devices("sim:1");
    return lock_key((*devices)->list().front());
  };
  const ScopedVariable none("BERTH_SIM_STATE", nullptr);
  const TempFolder one;
  const TempFolder two;
  EXPECT_EQ(key(one), key(one));
  EXPECT_NE(key(one), key(two));
}

TEST(LockFolder, WhatOthersWriteIsOnlyShown) {
  const LockHolder nonsense = decode_holder("\x1b]0;title\x07", 7, "p");
  EXPECT_EQ(nonsense.kind, "?]0;title?");
  EXPECT_EQ(nonsense.uid, 7U);
  EXPECT_EQ(nonsense.pid, 0);
  EXPECT_EQ(decode_holder("", 7, "p").task, "");
  LockHolder holder;
  holder.task = std::string(100'000, 'x');
  EXPECT_LE(encode_holder(holder).size(), 4096U);
  EXPECT_EQ(encode_holder(holder).back(), '\n');
}

}  // namespace
}  // namespace berth
