// What the daemon knows of rows that were queued there: `berth batch --status` asks it.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace berth {

/// How a job of the daemon stands, in the daemon's own words.
struct QueuedTask {
  std::string state;   // "queued", "running", "succeeded", "failed", …
  std::string reason;  // of a job that did not succeed: "exit 3"
};

/// The jobs that the daemon still knows, by number; none when it cannot be reached.
std::map<std::uint64_t, QueuedTask> look_up_tasks(const std::vector<std::uint64_t>& jobs);

}  // namespace berth
