// MemoryWatch: what running jobs use of their devices, from reading to reading: their peaks, who
// passes a claim, and who was to blame when one ran out of memory.
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
  /// What the scheduler is to be told: jobs that use more than they claim, and those that no longer
  /// do.
  std::vector<JobUse> take(const Telemetry::Reading& reading, const DeviceTable& devices);

  /// What the job had used of these before this process watched it.
  void adopt(JobId job, std::span<const DeviceId> devices, std::span<const Bytes> peaks);
  /// The most that the job has used, on the device where that was most; 0: nothing was seen.
  Bytes peak(JobId job) const;
  /// The same on each of these.
  std::vector<Bytes> peaks(JobId job, std::span<const DeviceId> devices) const;

  /// Whether a job that failed, and still has its lease, ran out of memory, or was ended before it
  /// did. `output` is the end of what it printed, as far as anybody knows it.
  std::optional<MemoryEnd> judge(const Job& job, std::string_view output,
                                 const DeviceTable& devices) const;

  void forget(JobId job) { peaks_.erase(job); }

 private:
  bool full(DeviceId device, const DeviceTable& devices) const;

  std::map<JobId, std::map<DeviceId, Bytes>> peaks_;
  Telemetry::Reading newest_;
};

}  // namespace berth
