#include "gpu/telemetry/sampler.h"

#include <signal.h>

#include <algorithm>

namespace berth {

Sampler::Sampler(Devices& devices, Duration interval, Callback callback)
    : devices_(devices), interval_(interval), callback_(std::move(callback)) {
  // Signals are for the main thread, which waits for them.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  thread_ = std::thread([this] { run(); });
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

Sampler::~Sampler() {
  {
    const std::lock_guard guard(mutex_);
    stop_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

std::uint64_t Sampler::sample_now() {
  std::uint64_t number = 0;
  {
    const std::lock_guard guard(mutex_);
    now_ = true;
    number = ++asked_;
  }
  changed_.notify_one();
  return number;
}

void Sampler::hurry(Duration interval, Duration length) {
  {
    const std::lock_guard guard(mutex_);
    const Clock::time_point now = Clock::now();
    const bool hurrying = now < fast_until_;
    fast_interval_ = hurrying ? std::min(fast_interval_, interval) : interval;
    fast_until_ = std::max(fast_until_, now + length);
  }
  changed_.notify_one();
}

Sampler::Clock::time_point Sampler::next_time(Clock::time_point last) const {
  const Clock::time_point usual = last + interval_;
  const bool hurrying = last < fast_until_;
  return hurrying ? std::min(usual, last + fast_interval_) : usual;
}

void Sampler::run() {
  std::unique_lock lock(mutex_);
  Clock::time_point last = Clock::now();
  while (!stop_) {
    if (!now_ && Clock::now() < next_time(last)) {
      changed_.wait_until(lock, next_time(last));
      continue;  // why it woke, and what is due, is asked afresh
    }
    now_ = false;
    last = Clock::now();
    const std::uint64_t asked = asked_;
    lock.unlock();
    callback_(devices_.sample(), asked);
    lock.lock();
  }
}

}  // namespace berth
