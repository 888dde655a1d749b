// Replay: feeds a daemon's journal to a fresh scheduler. The scheduler must decide exactly what the
// daemon decided. Otherwise live scheduling and simulation are not the same code.
#pragma once

#include <string>
#include <vector>

#include "core/scheduler.h"

namespace berth {

/// A job that got devices.
struct StartRecord {
  JobId job;
  std::uint16_t attempt = 0;
  Time at;
  std::vector<std::string> devices;

  friend bool operator==(const StartRecord&, const StartRecord&) = default;
};

struct Replay {
  std::uint64_t skipped = 0;  // entries before the one that the replay begins from
  std::uint64_t entries = 0;
  std::uint64_t decisions = 0;  // how often the scheduler was asked
  std::vector<StartRecord> starts;
  std::uint64_t forgotten = 0;           // starts with no record left to compare them with
  std::vector<std::string> differences;  // from the daemon's records, in words
};

/// Replays the journal of the database in this file, which no daemon may have open. The replay
/// begins with the first daemon start or checkpoint that the journal still has. It fails if there
/// is none.
Result<Replay> replay_journal(const std::string& path);

}  // namespace berth
