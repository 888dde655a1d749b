// One round of `berth selftest --chaos`: a home of its own, jobs through the daemon's interface,
// some of which are killed by force, and SIGKILL for the daemon, launchers and shims at random
// moments. Then all is quiet, and what is queued then must run. Changes this process's environment,
// and starts processes that end_everything() of chaos_leftovers.h ends.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "cli/selftest/chaos_ledger.h"

namespace berth {

struct StormPlan {
  std::string home;  // a folder that is not there yet
  std::uint32_t jobs = 300;
  std::uint32_t kills = 5;  // of the daemon, and at most as many of launchers and of shims
  std::uint64_t seed = 0;
  std::string mark;  // "NAME=value", in the environment of all that is started
};

struct StormResult {
  std::uint32_t jobs = 0;
  std::uint32_t attempts = 0;
  std::uint32_t kills = 0;  // of the daemon
  std::uint32_t launchers = 0;
  std::uint32_t shims = 0;
  std::uint32_t forced = 0;    // jobs that were killed by force, as they were to be
  std::uint32_t lost = 0;      // jobs whose shim was killed and whose end nobody knows
  std::uint32_t repeated = 0;  // submissions that were not acknowledged and sent again
  std::chrono::duration<double> length{};
  std::vector<Finding> findings;
};

/// `progress` gets a line for the user now and then. An error is a round that could not be made;
/// what the round found is in its result.
Result<StormResult> run_storm(const StormPlan& plan,
                              const std::function<void(const std::string&)>& progress);

}  // namespace berth
