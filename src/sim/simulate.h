// A discrete-event simulation. It drives the same Scheduler as the daemon, with a workload whose
// true lengths only the simulation knows. One call is one run, on one thread. Runs share nothing.
#pragma once

#include <memory>
#include <vector>

#include "core/policy.h"
#include "sim/machine.h"
#include "sim/workload.h"

namespace berth {

class Foresight;

/// How fast each of `sharers` jobs on one device runs, compared with a job alone. time_sliced is
/// time slicing that costs nothing: two jobs run at half the speed.
using SharingModel = double (*)(std::size_t sharers);
double time_sliced(std::size_t sharers);
double undisturbed(std::size_t sharers);

/// Devices that fail now and then. The jobs on a failed device begin again from nothing, elsewhere
/// or later.
struct Faults {
  Duration between = kForever;  // the mean time until a working device fails
  Duration repair = std::chrono::hours(1);
  std::uint64_t seed = 1;
};

struct SimOptions {
  Placement placement = kUsualPlacement;
  Duration preemption_cost{};  // work that a job must repeat each time it resumes
  SharingModel sharing = undisturbed;
  Bytes buffer;  // kept free beside claims on a shared device
  /// Decides separately on each event of one moment, arrivals first, instead of once for all of
  /// them.
  bool one_by_one = false;
  Faults faults;
  bool timeline = false;           // record which job was on which device
  Foresight* foresight = nullptr;  // lengths are learned by it instead of told; borrowed
};

/// How long it takes at most to repeat the work that a preemption costs: on the slowest device,
/// among as many jobs as may share one.
Duration slowest_resumption(const Workload& workload, const Machine& machine,
                            const SimOptions& options);

/// What became of one job.
struct JobOutcome {
  Time started = kNever;  // for the first time
  Time ended = kNever;
  Duration ran{};  // on devices, in all its turns together
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
  std::uint64_t events = 0;          // arrivals, ends, and other times at which the policy decided
  std::uint64_t preemptions = 0;
  std::uint64_t failures = 0;  // of devices
  Time first_submit = kNever;
  Time last_end{};
  double device_seconds = 0;  // with at least one job on the device
  double gpu_seconds = 0;     // leased; by share where jobs share
  double memory_gib_seconds = 0;
  double wasted_gpu_seconds = 0;  // work done twice
  double energy_j = 0;
  double peak_power_w = 0;
  std::vector<Stay> timeline;
};

/// Runs until all jobs have ended. Fails if a job could never start.
Result<SimRun> simulate(const Workload& workload, const std::vector<Duration>& expected,
                        const Machine& machine, std::unique_ptr<Policy> policy,
                        const SimOptions& options);

}  // namespace berth
