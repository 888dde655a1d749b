// Replay: a daemon's journal told to a fresh scheduler. It must decide what the daemon did, to the
// letter, or live scheduling and simulation are not the same code.
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
  std::uint64_t skipped = 0;  // entries at the beginning, before there is anything to begin from
  std::uint64_t entries = 0;
  std::uint64_t decisions = 0;  // how often the scheduler was asked
  std::vector<StartRecord> starts;
  std::uint64_t forgotten = 0;           // of the starts: nothing is on record to hold them against
  std::vector<std::string> differences;  // from what the daemon has on record, in words
};

/// Of the database in this file, which no daemon may have open. It begins with the first start of a
/// daemon, or checkpoint, that the journal still has; an error where there is none.
Result<Replay> replay_journal(const std::string& path);

}  // namespace berth
