// What a submission asks of the scheduler, and how a job can end. Apart from job.h, so that code
// which only describes jobs does not depend on how the scheduler keeps them.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/time.h"
#include "core/needs.h"

namespace berth {

enum class Outcome : std::uint8_t { Succeeded, Failed, Cancelled, TimedOut, Oom, Lost };

/// Why a job ended as it did, beyond its exit code.
enum class EndReason : std::uint8_t {
  Exited,     // by itself: see exit code and signal
  Cancelled,  // on request
  TimeLimit,
  Dependency,  // a job it had to follow can no longer end as required
  NotStarted,  // the command could not be started at all
  Lost,        // unknown: its watcher is gone
  Memory,      // it was ended for using more memory than it claimed
  Profile,     // it was ended because it ran only to measure its memory use
};

/// Why a running job is being stopped.
enum class Stopping : std::uint8_t {
  No,
  Cancelled,
  TimeLimit,
  Memory,     // it uses more than it claimed, on a shared device
  Preempted,  // other jobs are to have its devices
  Profile,    // it has run long enough to measure its memory use
};

/// A job that must end first, and how it must end.
struct Dependency {
  enum class When : std::uint8_t { Ok, Any, NotOk };
  JobId job;
  When when = When::Ok;

  friend bool operator==(const Dependency&, const Dependency&) = default;
};

/// Which ends lead to a retry, and how soon. The n-th retry waits backoff × 2ⁿ⁻¹.
struct RetryRule {
  std::uint16_t most = 0;
  Duration backoff{};
  bool on_failure = true;
  bool on_time_limit = true;
  /// An attempt whose end is unknown (the machine went down under it) is repeated, whatever `most`
  /// says.
  bool when_lost = false;

  friend bool operator==(const RetryRule&, const RetryRule&) = default;
};

/// What a submission asks for.
struct JobSpec {
  Needs needs;
  std::int32_t priority = 0;     // lower runs first
  Duration expected = kForever;  // an estimate; kForever: unknown
  Duration limit = kForever;     // the longest an attempt may run
  Duration warn_before{};        // a warning this long before the limit; 0: none
  Time begin{};                  // not before
  RetryRule retry;
  std::vector<Dependency> after;
  bool held = false;
  OwnerId owner;
  std::uint16_t weight = 1;  // of the owner, relative to other owners; at least 1

  friend bool operator==(const JobSpec&, const JobSpec&) = default;
};

inline constexpr std::int32_t kMostPriority = 1'000'000;  // and -kMostPriority the least
inline constexpr std::uint16_t kMostWeight = 10'000;
inline constexpr std::uint16_t kMostRetries = 10'000;

/// Whether this outcome of a job lets a job start that follows it on this condition.
bool satisfied(Dependency::When when, Outcome outcome);

std::string_view outcome_name(Outcome outcome);

}  // namespace berth
