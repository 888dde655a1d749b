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
  std::uint64_t entries = 0;
  std::uint64_t decisions = 0;  // how often the scheduler was asked
  std::vector<StartRecord> starts;
  std::vector<std::string> differences;  // from what the daemon has on record, in words
};

/// Of the database in this file, which no daemon may have open. An error where records are gone
/// that the journal needs.
Result<Replay> replay_journal(const std::string& path);

}  // namespace berth
