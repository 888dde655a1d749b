// Sampler: reads the devices at an interval on its own thread, because a driver may block.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "base/time.h"
#include "gpu/devices.h"

namespace berth {

/// Its methods may be called from any thread but its own. `devices` must outlive it, and no other
/// code may call devices.sample() meanwhile.
class Sampler {
 public:
  /// Called on the sampler's thread: hand the samples over and return. Sampling began after the
  /// call of sample_now() with the number `asked`.
  using Callback = std::function<void(std::vector<DeviceSample>, std::uint64_t asked)>;

  /// Starts at once, with a first sample.
  Sampler(Devices& devices, Duration interval, Callback callback);
  /// Waits only for a sample that is under way.
  ~Sampler();
  Sampler(const Sampler&) = delete;
  Sampler& operator=(const Sampler&) = delete;

  /// Requests a sample that begins after this call. Calls made while one is awaited share it.
  /// Returns the number of this call, counted from 1.
  std::uint64_t sample_now();
  /// Samples at this interval for the time in which a job grows. The shorter of two requested
  /// intervals wins.
  void hurry(Duration interval, Duration length);

 private:
  using Clock = std::chrono::steady_clock;

  void run();
  Clock::time_point next_time(Clock::time_point last) const;

  Devices& devices_;
  const Duration interval_;
  const Callback callback_;

  std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  bool stop_ = false;
  bool now_ = true;
  std::uint64_t asked_ = 0;  // calls of sample_now()
  Duration fast_interval_ = kForever;
  Clock::time_point fast_until_{};

  std::thread thread_;  // last: it uses all of the above
};

}  // namespace berth
