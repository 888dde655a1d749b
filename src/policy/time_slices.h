// TimeSlices: round robin between jobs that are on their devices together, for a driver that can
// stop jobs and let them go on, but cannot take them off their devices: what they hold of a
// device's memory stays there. At any time, at most one job works on each device.
//
// All turns end together, and the job that has waited longest chooses first. So a job on several
// devices, all of which it needs at once, gets its turn like any other.
//
// No clock and no I/O: the driver says what happens and when, and asks whose turn it is.
#pragma once

#include <cstdint>
#include <vector>

#include "base/ids.h"
#include "base/time.h"

namespace berth {

class TimeSlices {
 public:
  struct Change {
    JobId job;
    bool runs = false;
  };

  explicit TimeSlices(Duration slice);

  /// The job has devices, and its process runs.
  void started(JobId job, std::vector<DeviceId> devices, Time now);
  void ended(JobId job);

  /// Who is to stop and who is to go on: first the stops, then the others.
  std::vector<Change> turns(Time now);
  /// When to ask again even if nothing happens; kNever: nobody waits for a turn.
  Time next() const;

  bool is_stopped(JobId job) const;

 private:
  struct Member {
    JobId job;
    std::vector<DeviceId> devices;
    bool runs = true;
    Time waits_since;         // the end of its last turn, or its start
    std::uint64_t order = 0;  // of those who have waited equally long
  };

  Duration slice_;
  std::vector<Member> members_;
  std::uint64_t orders_ = 0;
  Time turn_ends_{};
};

}  // namespace berth
