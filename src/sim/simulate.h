// A discrete-event simulation: drives the same Scheduler as the daemon, with a workload whose true
// lengths only the simulation knows. One call is one run, on one thread; runs share nothing.
#pragma once

#include <memory>
#include <vector>

#include "core/policy.h"
#include "sim/machine.h"
#include "sim/workload.h"

namespace berth {

/// How fast each of `sharers` jobs on one device runs, compared with a job alone. The default is
/// time slicing that costs nothing: two jobs run at half the speed.
using SharingModel = double (*)(std::size_t sharers);
double time_sliced(std::size_t sharers);
double undisturbed(std::size_t sharers);

/// Devices that fail now and then: the jobs on them begin again from nothing, elsewhere or later.
struct Faults {
  Duration between = kForever;  // the mean time from one failure of a device to its next
  Duration repair = std::chrono::hours(1);
  std::uint64_t seed = 1;
};

struct SimOptions {
  Placement placement = kUsualPlacement;
  Duration preemption_cost{};  // of work that a job must do again each time it goes on
  SharingModel sharing = undisturbed;
  Bytes buffer;  // kept free beside claims on a shared device
  /// What happens at one moment is decided on one by one, arrivals first, and not all together.
  bool one_by_one = false;
  Faults faults;
  bool timeline = false;  // record who was where
};

/// What became of one job.
struct JobOutcome {
  Time started = kNever;  // first
  Time ended = kNever;
  Duration ran{};  // on devices, all its turns together
  std::uint32_t preempted = 0;
  std::uint32_t lost = 0;  // how often its devices failed under it
};

/// One job's stay on one device.
struct Stay {
  std::uint32_t job;
  DeviceId device;
  Time from;
  Time to;
};

struct SimRun {
  std::vector<JobOutcome> outcomes;  // by job
  std::uint64_t events = 0;          // arrivals, ends, and times at which the policy looked again
  std::uint64_t preemptions = 0;
  std::uint64_t failures = 0;  // of devices
  Time first_submit = kNever;
  Time last_end{};
  double device_seconds = 0;  // with at least one job on the device
  double gpu_seconds = 0;     // leased: by share where jobs share
  double memory_gib_seconds = 0;
  double wasted_gpu_seconds = 0;  // work done twice
  double energy_j = 0;
  double peak_power_w = 0;
  std::vector<Stay> timeline;
};

/// Runs until all jobs have ended. An error where one of them could never start.
Result<SimRun> simulate(const Workload& workload, const std::vector<Duration>& expected,
                        const Machine& machine, std::unique_ptr<Policy> policy,
                        const SimOptions& options);

}  // namespace berth
