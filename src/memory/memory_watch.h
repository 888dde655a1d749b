// MemoryWatch: how much device memory running jobs use, from reading to reading: their peaks, which
// jobs exceed their claims, and what was to blame when a job ran out of memory.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "core/scheduler.h"
#include "gpu/telemetry/telemetry.h"

namespace berth {

class MemoryWatch {
 public:
  /// The facts for the scheduler: jobs that use more than they claim, and jobs that no longer do.
  std::vector<JobUse> take(const Telemetry::Reading& reading, const DeviceTable& devices);

  /// The peaks of the job on these devices before this process watched it.
  void adopt(JobId job, std::span<const DeviceId> devices, std::span<const Bytes> peaks);
  /// The job has used this much of a device that is not watched here.
  void used_elsewhere(JobId job, Bytes peak);
  /// The highest peak of the job on any device; 0: nothing was seen.
  Bytes peak(JobId job) const;
  /// The peak of the job on each of these devices.
  std::vector<Bytes> peaks(JobId job, std::span<const DeviceId> devices) const;

  /// Whether a failed job that still has its lease ran out of memory, or was ended before it did.
  /// `output` is the end of the job's output, as far as it is known.
  std::optional<MemoryEnd> judge(const Job& job, std::string_view output,
                                 const DeviceTable& devices) const;

  void forget(JobId job) { peaks_.erase(job); }

 private:
  bool full(DeviceId device, const DeviceTable& devices) const;

  std::map<JobId, std::map<DeviceId, Bytes>> peaks_;
  Telemetry::Reading newest_;
};

}  // namespace berth
