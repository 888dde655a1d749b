// RunOptions: how `berth run` is to run its jobs.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>

#include "core/claim_book.h"
#include "core/device_table.h"
#include "core/job_spec.h"
#include "core/recipe.h"
#include "exec/runner.h"
#include "run/halt.h"
#include "run/outputs.h"

namespace berth {

struct RunOptions {
  std::string policy = "priority";
  /// Jobs on one device work in turn, each for so long; the others are stopped where they are.
  /// kForever: nobody is stopped.
  Duration slice = kForever;
  Placement placement = kUsualPlacement;
  Bytes buffer = DeviceTable::Limits{}.buffer;
  bool enforce_claims = false;
  std::string peaks;  // the file of the memory that jobs have used; empty: nothing is learned
  double oom_risk = kUsualOomRisk;  // how often a job may use more than its learned claim
  /// Tells which jobs use about the same memory, by project and command.
  std::function<Recipe(std::string_view, std::string_view)> recipe = recipe_of;
  JobSpec defaults;  // for what a job line does not set
  Duration grace = std::chrono::seconds(10);
  JobOutputs::Options outputs;
  std::optional<std::string> joblog;
  enum class Resume { No, Unfinished, Failed };
  Resume resume = Resume::No;
  Halt halt;
  bool shuffle = false;
  std::uint64_t seed = 0;
  int drain_signal = 0;  // in addition to INT and TERM; 0: none
  /// The first signal asks the jobs to end, instead of letting them finish.
  bool ends_at_first_signal = false;
  Duration sample_interval = std::chrono::seconds(1);
  /// Called for each launch before it starts, with the devices of the job.
  std::function<void(Launch&, std::span<const DeviceId>)> adapt;
  /// Names of devices that are closed for now: nothing starts on them. Called again whenever
  /// `closed_devices_fd` is readable. The function must drain the descriptor.
  std::function<std::set<std::string>()> closed_devices;
  int closed_devices_fd = -1;
};

}  // namespace berth
