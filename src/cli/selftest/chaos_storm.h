// One round of `berth selftest --chaos`. It has its own home and submits jobs through the daemon's
// interface. Some jobs are killed by force, and the daemon, launchers and shims get SIGKILL at
// random moments. Then the killing stops, and jobs queued after that must run. A round changes this
// process's environment and starts processes that end_everything() of chaos_leftovers.h ends.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "cli/selftest/chaos_ledger.h"

namespace berth {

struct StormPlan {
  std::string home;  // a folder that does not exist yet
  std::uint32_t jobs = 300;
  std::uint32_t kills = 5;  // of the daemon; at most as many of launchers and of shims
  std::uint64_t seed = 0;
  std::string mark;  // "NAME=value", in the environment of every process started
};

struct StormResult {
  std::uint32_t jobs = 0;
  std::uint32_t attempts = 0;
  std::uint32_t kills = 0;  // of the daemon
  std::uint32_t launchers = 0;
  std::uint32_t shims = 0;
  std::uint32_t forced = 0;    // jobs killed by force, as planned
  std::uint32_t lost = 0;      // jobs whose shim was killed and whose end is unknown
  std::uint32_t repeated = 0;  // submissions sent again because they were not acknowledged
  std::chrono::duration<double> length{};
  std::vector<Finding> findings;
};

/// `progress` gets a line for the user now and then. An error means that the round could not be
/// run; the findings of a round are in its result.
Result<StormResult> run_storm(const StormPlan& plan,
                              const std::function<void(const std::string&)>& progress);

}  // namespace berth
