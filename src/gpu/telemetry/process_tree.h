// Attributes device memory: turns the drivers' figures per process into the memory that jobs hold
// and the memory that others hold. Reads /proc only for the processes that use a device and for
// their ancestors.
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

/// The memory use of one device, by holder.
struct DeviceUse {
  std::map<JobId, Bytes> jobs;  // jobs with a process on it, even if the memory is unknown
  Bytes foreign;                // used memory less that of jobs; never negative
};

/// One thread at a time.
class ProcessTree {
 public:
  /// `run` is the value of BERTH_RUN that jobs of this scheduler were started with: a job number
  /// alone could be another scheduler's. `proc` is "/proc" outside tests.
  explicit ProcessTree(std::string run, std::string proc = "/proc");

  /// One entry per sample. A process belongs to a job when the kernel says so. Either it is in the
  /// job's cgroup; or it runs as the job's user and it, or an ancestor, is the job's root or in the
  /// process group or session that the root leads. The environment of a process counts only if the
  /// job has no cgroup, and only for processes of the job's own user. It identifies a process that
  /// was re-parented and has left both group and session, by the job's BERTH_JOB_ID and this
  /// BERTH_RUN.
  /// A process that has died since its sample was taken keeps its previous owner.
  std::vector<DeviceUse> attribute(std::span<const DeviceSample> samples,
                                   std::span<const JobRoot> jobs);

 private:
  std::string run_;
  std::string proc_;
  std::map<pid_t, JobId> last_owners_;  // as of the previous call
};

}  // namespace berth
