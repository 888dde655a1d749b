#include "record/record_observer.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

namespace berth {
namespace {

/// A job's own name, or its number and what it runs.
std::string shown(const JobEvent& job) {
  constexpr std::size_t kLongest = 60;
  if (!job.name.empty()) {
    return std::string(job.name);
  }
  std::string name = fmt::format("{} {}", job.id.value, job.command);
  std::replace(name.begin(), name.end(), '\n', ' ');
  return name.size() > kLongest ? name.substr(0, kLongest) + "…" : name;
}

}  // namespace

Time record_time() {
  return Time(
      std::chrono::duration_cast<Duration>(std::chrono::steady_clock::now().time_since_epoch()));
}

void RecordObserver::enter(const JobEvent& job) {
  for (const DeviceId device : job.devices) {
    recorder_.recording().enter(job.id.value, shown(job), device.value, record_time());
  }
}

void RecordObserver::leave(const JobEvent& job) {
  for (const DeviceId device : job.devices) {
    recorder_.recording().leave(job.id.value, device.value, record_time());
  }
}

void RecordObserver::job_started(const JobEvent& job) {
  enter(job);
  reporter_.job_started(job);
}

void RecordObserver::job_ended(const JobEvent& job, const JobEndEvent& end) {
  leave(job);
  reporter_.job_ended(job, end);
}

void RecordObserver::job_stopped(const JobEvent& job, bool stopped) {
  stopped ? leave(job) : enter(job);
  reporter_.job_stopped(job, stopped);
}

void RecordObserver::sampled(const std::vector<DeviceSample>& samples) {
  recorder_.sampled(samples, record_time(), std::chrono::system_clock::now());
  reporter_.sampled(samples);
}

}  // namespace berth
