// A journal told to a fresh scheduler, by the door through which it was written.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/journal_input.h"

namespace berth {

struct Told {
  JournalInput input;
  Time at;
};

/// The kind of an entry, in a word: "reclaim"; empty for those that no test asks for.
std::string told_kind(const JournalInput& input);

struct Replayed {
  std::vector<StartJob> starts;  // without those that found a device taken
  std::vector<Told> told;        // what the fresh scheduler has written down
};

/// `submitted` and `restored`: what was asked for, which the journal names by the jobs' numbers.
Replayed replay(const std::vector<Told>& journal, const std::map<JobId, JobSpec>& submitted,
                const std::vector<Restore>& restored);

}  // namespace berth
