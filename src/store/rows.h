// Parts of rows that are read in more than one place.
#pragma once

#include <cstdint>
#include <string_view>

#include "store/records.h"
#include "store/sqlite.h"

namespace berth {

/// The same columns in the same positions for single jobs and for the restart.
inline constexpr std::string_view kSpecColumns =
    "id, state, attempt, submitted, not_before, started, priority, held, expected, time_limit, "
    "begins, retry, after, warn_before, needs, claim, memory_retries, weight";
struct SpecColumn {
  enum : int {
    Id,
    State,
    Attempt,
    Submitted,
    NotBefore,
    Started,
    Priority,
    IsHeld,
    Expected,
    Limit,
    Begins,
    Retry,
    After,
    WarnBefore,
    NeedsId,
    Claim,
    MemoryRetries,
    Weight,
    AfterSpec,
  };
};

Failure damaged_job(std::int64_t job);

Time time_or(const Statement& row, int column, Time otherwise);

bool valid_phase(std::int64_t state);

/// Reads all of a spec but its needs; false when it makes no sense.
bool read_spec(const Statement& row, JobSpec& spec);

/// Columns ended, reason, code, signal, peak, gpu_time, energy, message from `first` on.
Ending read_ending(const Statement& row, int first, Outcome outcome);

}  // namespace berth
