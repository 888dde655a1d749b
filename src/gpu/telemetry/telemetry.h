// Telemetry: readings of the devices while jobs run. A thread samples the devices and attributes
// their memory. event_fd() wakes the loop, which takes the newest reading. The scheduling path
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
    std::uint64_t asked = 0;  // the number of a refresh(); the reading began after that call
  };

  /// `run` is the mark of this run's jobs, see ProcessTree. Returns when there is a first reading
  /// to take, because lost and occupied devices must be known before the first job starts.
  Telemetry(Devices& devices, std::string run, Duration interval);

  int event_fd() const { return event_.get(); }
  std::optional<Reading> take();

  /// Requests a reading soon, because the use of a device by others has changed. A reading that is
  /// under way may come first. Readings that begin after this call have its number or a higher one.
  std::uint64_t refresh() { return sampler_.sample_now(); }

  void job_started(JobRoot root);
  void job_ended(JobId job);

 private:
  void receive(std::vector<DeviceSample> samples, std::uint64_t asked);

  struct Root {
    JobRoot root;
    /// Ended jobs are remembered for the samples that may have been under way when they ended, so
    /// that their memory is not taken for that of others.
    int samples_left = -1;  // -1: the job runs
  };

  ProcessTree tree_;
  Fd event_;
  std::mutex mutex_;  // guards roots_ and newest_
  std::vector<Root> roots_;
  std::optional<Reading> newest_;
  Sampler sampler_;  // last: its thread uses all of the above
};

}  // namespace berth
