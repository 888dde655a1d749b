// A journal told to a fresh scheduler, by the door through which it was written.
#pragma once

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

Replayed replay(const std::vector<Told>& journal);

}  // namespace berth
