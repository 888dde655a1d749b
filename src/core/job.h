// A job as the scheduler sees it: what it asks for, and where it is in its life. The command,
// directory and environment are the driver's business and are not here.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <variant>
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

// --- the states of a job; each carries only what is true in it

/// Waits. It competes for devices once `not_before` has passed and `unmet` is 0.
struct Queued {
  Time not_before{};
  std::uint32_t unmet = 0;  // dependencies that have not ended yet
};

/// Waits until it is released. After that, it waits as if it had not been held.
struct Held {
  Queued then;
};

enum class Stopping : std::uint8_t {
  No,
  Cancelled,
  TimeLimit,
  Memory,     // it uses more than it claimed, on a shared device
  Preempted,  // other jobs are to have its devices
  Profile,    // it has run long enough to measure its memory use
};

/// Has devices, but its process is not known to exist yet.
struct Starting {
  std::vector<DeviceId> devices;
  Time since;
  Stopping stopping = Stopping::No;
};

struct Running {
  std::vector<DeviceId> devices;
  Time since;
  Stopping stopping = Stopping::No;
};

struct Ended {
  Outcome outcome;
  EndReason reason;
  int exit_code;  // meaningful when signal is 0
  int signal;
  Time started;  // of the last attempt; kNever when none started
  Time ended;
};

using JobState = std::variant<Held, Queued, Starting, Running, Ended>;

using ShapeId = Id<struct ShapeTag, std::uint32_t>;

/// A place in the queue: smaller goes first, equals go by id.
using Rank = std::int64_t;

/// Traits that few jobs have.
struct RareTraits {
  RetryRule retry;
  Duration warn_before{};
  Duration done{};                  // its work before it was last preempted
  std::uint8_t memory_retries = 0;  // attempts that ran out of memory and were repeated
  std::vector<Dependency> after;    // the jobs it follows, perhaps including ended ones
};

/// A million of these may wait.
struct Job {
  JobId id;
  ShapeId shape;
  std::int32_t priority = 0;
  Time submitted;
  Duration expected = kForever;
  Duration limit = kForever;
  JobState state;
  Rank rank = 0;
  Time timer = kNever;  // when the scheduler must look at this job again
  std::uint16_t attempt = 0;
  std::uint16_t weight = 1;
  OwnerId owner;
  std::unique_ptr<RareTraits> rare;  // absent: all at their defaults

  const RareTraits& traits() const;
  RareTraits& own_traits();

  bool waiting() const {
    return std::holds_alternative<Held>(state) || std::holds_alternative<Queued>(state);
  }
  /// How long the job is expected to run from its next start on; kForever when unknown.
  Duration expected_left() const;
  /// Its devices while it holds a lease, else nullptr.
  const std::vector<DeviceId>* lease() const;
};

/// Whether this outcome of a job lets a job start that follows it on this condition.
bool satisfied(Dependency::When when, Outcome outcome);

/// `held`, `queued`, `starting`, `running`, or the outcome.
std::string_view state_name(const JobState& state);
std::string_view outcome_name(Outcome outcome);

}  // namespace berth
