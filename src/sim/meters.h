// Meters: what is measured of a run while it goes on: what became of each job, the time on devices,
// the power and the energy. Sums are floating point, so callers must report in order of time.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/simulate.h"

namespace berth {

class Meters {
 public:
  /// Borrows both. `timeline`: who was where is recorded, too.
  Meters(const std::vector<SimJob>& jobs, const Machine& machine, bool timeline);

  void count_event() { ++run_.events; }
  std::uint64_t events() const { return run_.events; }
  void count_failure() { ++run_.failures; }
  std::uint64_t preemptions() const { return run_.preemptions; }

  /// The power draw has been what it is from one time until the other.
  void pass_time(Time from, Time until);
  /// Returns whether it is the first start of the job.
  bool started(std::uint32_t job, Time now);
  void ended(std::uint32_t job, Time now);
  void preempted(std::uint32_t job);
  /// Returns how often the job has been lost.
  std::uint32_t lost(std::uint32_t job) { return ++run_.outcomes[job].lost; }
  /// So much of the job is done twice.
  void waste(std::uint32_t job, Duration work);

  /// A job is on these devices from now on.
  void enter(const std::vector<DeviceId>& devices, Time now);
  /// The job was on these devices since then, and leaves them now.
  void leave(std::uint32_t job, const std::vector<DeviceId>& devices, Time since, Time now);

  /// All that was measured; nothing is measured after this.
  SimRun take() { return std::move(run_); }

 private:
  struct Busy {
    std::uint32_t jobs = 0;
    Time since;
  };

  /// What a job on an idle device adds to the power draw.
  double extra_power(DeviceId device) const {
    const DevicePower& power = machine_[device.value].spec.power;
    return power.busy - power.idle;
  }

  const std::vector<SimJob>& jobs_;
  const Machine& machine_;
  const bool timeline_;
  std::vector<Busy> busy_;  // by device
  double power_ = 0;
  SimRun run_;
};

}  // namespace berth
