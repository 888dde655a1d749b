// What the daemon knows of rows that were queued there: `berth batch --status` shows it, and the
// next run notes the ends in the journal, so that --rerun-failed knows them.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "batch/journal.h"

namespace berth {

/// How a job of the daemon stands, in the daemon's own words.
struct QueuedTask {
  std::string state;   // "queued", "running", "succeeded", "failed", …
  std::string reason;  // of a job that did not succeed: "exit 3"

  bool waits() const { return state == "queued" || state == "held"; }
  bool runs() const { return state == "running" || state == "starting"; }
};

/// The jobs that the daemon still knows, by number; none when it cannot be reached.
std::map<std::uint64_t, QueuedTask> look_up_tasks(const std::vector<std::uint64_t>& jobs);

/// Notes how the queued rows ended that the journal still has as queued.
Result<void> note_ends(BatchJournal& journal);

}  // namespace berth
