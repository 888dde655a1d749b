// Whose memory is it: turns what drivers report per process into what jobs hold, and what others
// do. Reads /proc for the processes that use a device and their ancestors, nothing else.
#pragma once

#include <sys/types.h>

#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/ids.h"
#include "gpu/devices.h"

namespace berth {

/// A running job and the process that berth started for it.
struct JobRoot {
  JobId job;
  pid_t root = 0;
  uid_t user = 0;
  std::string cgroup;  // as /proc/PID/cgroup names it; empty: the job has none
};

/// Who holds the memory of one device.
struct DeviceUse {
  std::map<JobId, Bytes> jobs;  // those with a process on it, even where its memory is unknown
  Bytes foreign;                // used, less what jobs hold; never negative
};

/// One thread at a time.
class ProcessTree {
 public:
  /// `run` is the value of BERTH_RUN that jobs of this scheduler were started with: a job number
  /// alone could be another scheduler's. `proc` is "/proc" outside tests.
  explicit ProcessTree(std::string run, std::string proc = "/proc");

  /// One entry per sample. A process belongs to a job when the kernel says so: it is in the job's
  /// cgroup; or it is of the job's user and it, or an ancestor, is the job's root or in the process
  /// group or session that the root leads. What a process says of itself counts only where the job
  /// has no cgroup, and only of the job's own user: one that was re-parented and has left both has
  /// the job's BERTH_JOB_ID and this BERTH_RUN in its environment.
  /// One that has died since its sample was taken belongs to whom it belonged to before.
  std::vector<DeviceUse> attribute(std::span<const DeviceSample> samples,
                                   std::span<const JobRoot> jobs);

 private:
  std::string run_;
  std::string proc_;
  std::map<pid_t, JobId> last_owners_;  // as of the call before
};

}  // namespace berth
