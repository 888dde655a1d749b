// Summary: a run in figures.
#pragma once

#include "sim/simulate.h"

namespace berth {

struct Spread {
  double mean = 0;
  double p50 = 0;
  double p95 = 0;
  double p99 = 0;
};

struct Summary {
  std::size_t jobs = 0;
  Spread wait_s;        // from submission to the end, less the time on devices
  Spread completion_s;  // from submission to the end
  Spread bounded_slowdown;
  /// At each start the waits of all jobs that have started are summed up again, and the sum is
  /// divided by the number of jobs: an average wait as some studies count it.
  double summed_wait_s = 0;
  double makespan_s = 0;          // from the first submission to the last end
  double utilization = 0;         // of the devices' time, until the last end
  double memory_utilization = 0;  // claimed; 0 where the devices have no stated memory
  double gpu_seconds = 0;
  double wasted_gpu_seconds = 0;
  double energy_j = 0;
  double peak_power_w = 0;
  double jain_index = 0;            // of the owners' mean slowdowns: 1 is equal treatment
  double finish_time_fairness = 0;  // the worst owner's mean slowdown divided by the owners' mean
  double reward = 0;                // minus the total time that jobs have waited and run
  std::uint64_t preemptions = 0;
  std::uint64_t failures = 0;
  std::uint64_t events = 0;
};

Summary summarise(const Workload& workload, const Machine& machine, const SimRun& run);

/// (wait + run) / max(run, 10 s), but at least 1.
double bounded_slowdown(Duration completion, Duration duration);

}  // namespace berth
