#include "gpu/telemetry/telemetry.h"

#include <poll.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <cerrno>

#include "base/check.h"

namespace berth {

Telemetry::Telemetry(Devices& devices, std::string run, Duration interval)
    : tree_(std::move(run)),
      event_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      sampler_(devices, interval, [this](std::vector<DeviceSample> samples, std::uint64_t asked) {
        receive(std::move(samples), asked);
      }) {
  BERTH_CHECK(event_);
  pollfd ready{event_.get(), POLLIN, 0};
  while (::poll(&ready, 1, -1) < 0 && errno == EINTR) {
  }
}

void Telemetry::receive(std::vector<DeviceSample> samples, std::uint64_t asked) {
  std::vector<JobRoot> jobs;
  {
    const std::lock_guard lock(mutex_);
    for (Root& root : roots_) {
      jobs.push_back(root.root);
      if (root.samples_left > 0) {
        --root.samples_left;
      }
    }
    std::erase_if(roots_, [](const Root& root) { return root.samples_left == 0; });
  }
  Reading reading{std::move(samples), {}, asked};
  reading.use = tree_.attribute(reading.samples, jobs);
  {
    const std::lock_guard lock(mutex_);
    newest_ = std::move(reading);
  }
  const std::uint64_t one = 1;
  (void)!::write(event_.get(), &one, sizeof one);
}

std::optional<Telemetry::Reading> Telemetry::take() {
  std::uint64_t count = 0;
  (void)!::read(event_.get(), &count, sizeof count);
  const std::lock_guard lock(mutex_);
  return std::exchange(newest_, std::nullopt);
}

/// A job grows in its first seconds: that is when its peak is missed, and when others must not be
/// put beside it.
void Telemetry::job_started(JobRoot root) {
  constexpr Duration kOften = std::chrono::milliseconds(100);
  constexpr Duration kRampUp = std::chrono::seconds(5);
  sampler_.hurry(kOften, kRampUp);
  const std::lock_guard lock(mutex_);
  roots_.push_back({root, -1});
}

void Telemetry::job_ended(JobId job) {
  const std::lock_guard lock(mutex_);
  for (Root& root : roots_) {
    if (root.root.job == job && root.samples_left < 0) {
      root.samples_left = 2;
    }
  }
}

}  // namespace berth
