// A job on simulated devices: it takes memory in steps, holds it, frees it and ends, or fails as a
// real job would. However it ends, its use vanishes from the state file.
#pragma once

#include <optional>
#include <vector>

#include "base/time.h"
#include "base/units.h"
#include "gpu/simulated/sim_devices.h"

namespace berth {

struct SimJobPlan {
  Bytes memory = gibibytes(1);  // on every device
  Duration ramp{};              // time over which the memory is taken
  Duration hold = std::chrono::seconds(1);
  int utilization = 100;
  bool contends = false;  // gets `hold` done more slowly while its devices are wanted above 100 %
  double watts = 200;
  std::optional<Duration> fail_at;
  int exit_code = 0;
  bool via_mps = false;
};

/// Runs the job in this process and returns its exit code. On TERM, INT or HUP the job frees what
/// it holds and dies by that signal. It handles signals of the whole process, so call it on a
/// program's main thread, with no other threads beside it.
int run_sim_job(SimState& state, const std::vector<SimPart>& visible, const SimJobPlan& plan);

}  // namespace berth
