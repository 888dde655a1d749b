// A job as the scheduler sees it: what it asks, and where it is in its life. The command, directory
// and environment are the driver's business and are not here.
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
  Cancelled,  // somebody asked
  TimeLimit,
  Dependency,  // a job it had to follow can no longer end as required
  NotStarted,  // the command could not be started at all
  Lost,        // nobody can know: who watched it is gone
  Memory,      // it was ended for using more memory than it claimed
  Profile,     // it was ended because it ran only to see what it uses
};

/// What a job must follow.
struct Dependency {
  enum class When : std::uint8_t { Ok, Any, NotOk };
  JobId job;
  When when = When::Ok;

  friend bool operator==(const Dependency&, const Dependency&) = default;
};

/// Which ends are tried again, and how soon. The n-th retry waits backoff × 2ⁿ⁻¹.
struct RetryRule {
  std::uint16_t most = 0;
  Duration backoff{};
  bool on_failure = true;
  bool on_time_limit = true;
  /// An attempt of which nobody knows the end (the machine went down under it) is made again,
  /// whatever `most` says.
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
  std::uint16_t weight = 1;  // of the owner's claim beside other owners; at least 1

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

/// Waits until it is released, and then for what it would have waited for anyway.
struct Held {
  Queued then;
};

enum class Stopping : std::uint8_t {
  No,
  Cancelled,
  TimeLimit,
  Memory,     // it uses more than it claimed, on a device that others share
  Preempted,  // others are to have its devices
  Profile,    // it has run long enough to see what it uses
};

/// Has devices, but nobody has said yet that its process exists.
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

/// What few jobs have.
struct RareTraits {
  RetryRule retry;
  Duration warn_before{};
  Duration done{};                  // of its work, before it was last preempted
  std::uint8_t memory_retries = 0;  // attempts that ran out of memory and were made again
  std::vector<Dependency> after;    // what it follows; those that have ended may stand here, too
};

/// A million of them may wait.
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
  std::unique_ptr<RareTraits> rare;  // absent: each as it is by itself

  const RareTraits& traits() const;
  RareTraits& own_traits();

  bool waiting() const {
    return std::holds_alternative<Held>(state) || std::holds_alternative<Queued>(state);
  }
  /// How much longer it is expected to run from its next start on; kForever where nobody can tell.
  Duration expected_left() const;
  /// Its devices while it holds a lease, else nullptr.
  const std::vector<DeviceId>* lease() const;
};

/// Whether a job that ended so lets one start that must follow it.
bool satisfied(Dependency::When when, Outcome outcome);

/// `held`, `queued`, `starting`, `running`, or the outcome.
std::string_view state_name(const JobState& state);
std::string_view outcome_name(Outcome outcome);

}  // namespace berth
