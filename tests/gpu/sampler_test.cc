// The sampler's thread: when it samples and that it stops.
#include "gpu/telemetry/sampler.h"

#include <gtest/gtest.h>

#include <condition_variable>
#include <mutex>

#include "gpu/trusted.h"

namespace berth {
namespace {

using namespace std::chrono_literals;

class SamplerTest : public ::testing::Test {
 protected:
  Sampler::Callback count() {
    return [this](const std::vector<DeviceSample>& samples, std::uint64_t) {
      EXPECT_EQ(samples.size(), 2U);
      const std::lock_guard guard(mutex_);
      ++count_;
      changed_.notify_all();
    };
  }
  bool wait_for(int count) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, 10s, [&] { return count_ >= count; });
  }
  int counted() {
    const std::lock_guard guard(mutex_);
    return count_;
  }

  std::vector<std::string_view> ids_ = {"0", "1"};
  std::unique_ptr<Devices> devices_ = open_trusted(ids_);
  std::mutex mutex_;
  std::condition_variable changed_;
  int count_ = 0;
};

TEST_F(SamplerTest, SamplesAtOnceThenAtTheInterval) {
  const Sampler sampler(*devices_, 2ms, count());
  EXPECT_TRUE(wait_for(5));
}

TEST_F(SamplerTest, SamplesWhenAsked) {
  Sampler sampler(*devices_, 1h, count());
  ASSERT_TRUE(wait_for(1));
  sampler.sample_now();
  EXPECT_TRUE(wait_for(2));
}

TEST_F(SamplerTest, HurriesForAWhile) {
  Sampler sampler(*devices_, 1h, count());
  ASSERT_TRUE(wait_for(1));
  sampler.hurry(2ms, 10s);
  sampler.sample_now();
  EXPECT_TRUE(wait_for(6));
}

TEST_F(SamplerTest, StopsWithoutWaitingForTheInterval) {
  const auto began = std::chrono::steady_clock::now();
  { const Sampler sampler(*devices_, 1h, count()); }
  EXPECT_LT(std::chrono::steady_clock::now() - began, 10s);
  EXPECT_LE(counted(), 1);
}

TEST_F(SamplerTest, ManyMayAskAtATime) {
  Sampler sampler(*devices_, 1h, count());
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int j = 0; j < 100; ++j) {
        sampler.sample_now();
        sampler.hurry(1ms, 5ms);
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_TRUE(wait_for(1));
}

}  // namespace
}  // namespace berth
