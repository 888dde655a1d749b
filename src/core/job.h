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
#include "core/job_spec.h"

namespace berth {

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

/// `held`, `queued`, `starting`, `running`, or the outcome.
std::string_view state_name(const JobState& state);

}  // namespace berth
