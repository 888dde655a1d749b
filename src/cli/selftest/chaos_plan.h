// The plan for the jobs of a chaos round, drawn from a seed. Lengths, ends, retries and
// dependencies vary, so that kills hit every step of a job's life.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/random.h"
#include "core/job_spec.h"

namespace berth {

struct ChaosJob {
  std::uint32_t number = 0;  // from 1, in the order of submission
  std::uint32_t gpus = 1;
  std::chrono::milliseconds length{};
  std::uint16_t failures = 0;  // attempts that fail before the last
  std::uint16_t retries = 0;
  int exit_code = 0;        // of the last attempt
  int signal = 0;           // ends the last attempt instead; 0: none
  bool stubborn = false;    // runs until it is killed by force, which it requests itself
  std::uint32_t after = 0;  // the number of a job in an earlier batch, 0: none
  Dependency::When when = Dependency::When::Any;

  bool succeeds() const { return exit_code == 0 && signal == 0; }
};

/// The exit code of an attempt that is to fail before the last one.
inline constexpr int kChaosRetryCode = 75;

/// Plans `count` jobs in batches. Each batch is one submission.
std::vector<std::vector<ChaosJob>> plan_chaos(std::uint32_t count, Random& random);

/// How many of `count` jobs are submitted after the storm. They are the last batch, which has no
/// stubborn job.
std::uint32_t jobs_after_storm(std::uint32_t count);

/// The shell command of a job: this program again, as `berth chaosjob`.
std::string chaos_command(const ChaosJob& job, const std::string& program,
                          const std::string& ledger);

}  // namespace berth
