// Replays a journal to a fresh scheduler, through the interface that wrote it.
#pragma once

#include <string>
#include <vector>

#include "core/journal_input.h"

namespace berth {

struct Told {
  JournalInput input;
  Time at;
};

/// The kind of an entry in one word, such as "reclaim"; empty for kinds that no test asks for.
std::string told_kind(const JournalInput& input);

struct Replayed {
  std::vector<StartJob> starts;  // without starts that found a device taken
  std::vector<Told> told;        // the journal of the fresh scheduler
};

Replayed replay(const std::vector<Told>& journal);

}  // namespace berth
