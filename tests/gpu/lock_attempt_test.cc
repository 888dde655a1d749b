// Attempts at one device, step by step against each other: whatever the order of their steps, one
// of them gets the device.
#include "gpu/locks/lock_attempt.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <random>
#include <thread>

#include "gpu/fixture.h"

namespace berth {
namespace {

/// Threads of which one runs at a time, up to its next step; chance says which.
class Stage {
 public:
  explicit Stage(std::uint32_t seed) : random_(seed) {}

  /// Runs all of them to their ends.
  void play(const std::vector<std::function<void()>>& parts) {
    for (std::size_t i = 0; i < parts.size(); ++i) {
      waiting_.push_back(i);
    }
    turn_ = waiting_[random_() % waiting_.size()];
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      threads.emplace_back([this, i, &part = parts[i]] {
        await(i);
        part();
        std::erase(waiting_, i);
        pass_on();
      });
    }
    for (std::thread& thread : threads) {
      thread.join();
    }
  }

  /// Another may have its turn now.
  void step(std::size_t part) {
    pass_on();
    await(part);
  }

 private:
  void pass_on() {
    const std::lock_guard lock(mutex_);
    turn_ = waiting_.empty() ? 0 : waiting_[random_() % waiting_.size()];
    changed_.notify_all();
  }
  void await(std::size_t part) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return turn_ == part; });
  }

  std::mt19937 random_;
  std::mutex mutex_;  // guards turn_; the rest is of whoever has the turn
  std::condition_variable changed_;
  std::size_t turn_ = 0;
  std::vector<std::size_t> waiting_;
};

class LockAttemptTest : public testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(::chmod(folder_.path().c_str(), 01777), 0); }

  /// How many of `count` that ask at the same time get the device. Several users cannot remove each
  /// other's files.
  std::size_t winners(std::size_t count, std::uint32_t seed, bool several_users) {
    Stage stage(seed);
    std::vector<Fd> held(count);
    std::vector<std::function<void()>> parts;
    for (std::size_t i = 0; i < count; ++i) {
      parts.emplace_back([&, i] {
        if (several_users) {
          // The kernel's own call: this thread becomes the user, and ends as that.
          EXPECT_EQ(::syscall(SYS_setresuid, -1, 60'000 + i, -1), 0);
        }
        LockAttempt attempt({opened_[i], folder_.path(), prefix_, signature_,
                             [](const std::string&) { return false; }, [&, i] { stage.step(i); }});
        const Result<void> asked = attempt.ask("run\t1\t1\t0\ta task\n");
        EXPECT_TRUE(asked.has_value()) << asked.error().message;
        if (attempt.won()) {
          held[i] = std::move(attempt.file());
          names_.push_back(attempt.name());
        }
      });
    }
    stage.play(parts);
    for (const std::string& name : std::exchange(names_, {})) {
      (void)::unlinkat(opened_[0].get(), name.c_str(), 0);
    }
    return static_cast<std::size_t>(
        std::count_if(held.begin(), held.end(), [](const Fd& file) { return bool(file); }));
  }

  TempFolder folder_;
  Fd opened_[4]{
      Fd(::open(folder_.path().c_str(), O_RDONLY)), Fd(::open(folder_.path().c_str(), O_RDONLY)),
      Fd(::open(folder_.path().c_str(), O_RDONLY)), Fd(::open(folder_.path().c_str(), O_RDONLY))};
  std::string prefix_ = lock_prefix("id-0");
  std::string signature_ = "run-0";
  std::vector<std::string> names_;
};

TEST_F(LockAttemptTest, OneOfSeveralGetsTheDevice) {
  const bool root = ::geteuid() == 0;
  for (std::uint32_t seed = 0; seed < 1500; ++seed) {
    const std::size_t count = 2 + seed % 3;
    ASSERT_EQ(winners(count, seed, root && seed % 2 == 0), 1U)
        << count << " that ask, seed " << seed;
  }
  EXPECT_TRUE(names_in(opened_[0].get(), "berth-")->empty());
}

}  // namespace
}  // namespace berth
