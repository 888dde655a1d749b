// RunTurns: carries out whose turn it is, where jobs on one device work in turn: stops jobs, and
// lets them go on.
#pragma once

#include <functional>
#include <optional>

#include "core/scheduler.h"
#include "exec/runner.h"
#include "policy/time_slices.h"
#include "run/run_options.h"

namespace berth {

/// How many jobs without a claim of their own work in turn on one device.
inline constexpr std::uint32_t kTurnsPerDevice = 8;

/// Round robin: first come, first served onto the devices, and turns of this length there.
void use_turns(RunOptions& options, Duration slice);

class RunTurns {
 public:
  /// Does nothing where `options` have no slice. `runner` is borrowed.
  RunTurns(const RunOptions& options, Runner& runner);

  void started(const StartJob& start, Time at);
  void ended(JobId job);
  /// The job is about to be asked to end, which one that is stopped would not hear.
  void wake(JobId job);

  /// Calls `seen` for each job that is stopped or goes on.
  void take(Time at, const std::function<void(JobId, bool stopped)>& seen);
  Time next() const { return slices_ ? slices_->next() : kNever; }

 private:
  Runner& runner_;
  std::optional<TimeSlices> slices_;
};

}  // namespace berth
