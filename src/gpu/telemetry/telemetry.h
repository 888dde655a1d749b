// Telemetry: readings of the devices while jobs run. A thread samples and works out whose
// memory it is; the loop is woken by event_fd() and takes the newest reading. The scheduling path
// never waits.
#pragma once

#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/fd.h"
#include "base/time.h"
#include "gpu/devices.h"
#include "gpu/telemetry/process_tree.h"
#include "gpu/telemetry/sampler.h"

namespace berth {

class Telemetry {
 public:
  struct Reading {
    std::vector<DeviceSample> samples;
    std::vector<DeviceUse> use;
    std::uint64_t asked = 0;  // the number of a refresh(): the reading began after it
  };

  /// `run`: the mark of this run's jobs, see ProcessTree. Returns with a first reading to take:
  /// which devices are lost or taken must be known before the first job starts.
  Telemetry(Devices& devices, std::string run, Duration interval);

  int event_fd() const { return event_.get(); }
  std::optional<Reading> take();

  /// A reading soon: what others used of a device has changed. One that is under way may come
  /// before; those that begin after this call have its number, or a higher one.
  std::uint64_t refresh() { return sampler_.sample_now(); }

  void job_started(JobRoot root);
  void job_ended(JobId job);

 private:
  void receive(std::vector<DeviceSample> samples, std::uint64_t asked);

  struct Root {
    JobRoot root;
    /// Ended jobs are remembered for the samples that may have been under way at their end: what
    /// they held must not be taken for somebody else's.
    int samples_left = -1;  // -1: runs
  };

  ProcessTree tree_;
  Fd event_;
  std::mutex mutex_;  // guards roots_ and newest_
  std::vector<Root> roots_;
  std::optional<Reading> newest_;
  Sampler sampler_;  // last: its thread uses all of the above
};

}  // namespace berth
