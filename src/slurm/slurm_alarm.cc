#include "slurm/slurm_alarm.h"

#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>

namespace berth {

SlurmAlarm::SlurmAlarm(Now now)
    : now_(std::move(now)), timer_(::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK)) {}

void SlurmAlarm::wake(SlurmTime when) {
  if (when >= due_) {
    return;
  }
  due_ = when;
  const auto left = std::max<std::int64_t>(
      1, std::chrono::duration_cast<std::chrono::nanoseconds>(when - now()).count());
  itimerspec spec{};
  spec.it_value.tv_sec = left / 1'000'000'000;
  spec.it_value.tv_nsec = left % 1'000'000'000;
  ::timerfd_settime(timer_.get(), 0, &spec, nullptr);
}

void SlurmAlarm::clear() {
  std::uint64_t count = 0;
  (void)!::read(timer_.get(), &count, sizeof count);
  due_ = SlurmTime::max();
}

}  // namespace berth
