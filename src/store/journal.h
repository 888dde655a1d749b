// The input journal: everything the scheduler was told, in order, so that its decisions can be
// replayed. The format is in docs/formats.md.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/journal_input.h"

namespace berth {

struct JournalEntry {
  std::uint64_t number = 0;  // from 1, without gaps
  Time time;
  JournalInput input;
};

/// About how much an entry's row takes in the database, besides its bytes.
inline constexpr std::uint64_t kJournalRow = 16;

/// A part of the journal that a replay can begin with; it ends where the next one begins.
struct JournalPart {
  std::uint64_t first = 0;  // its first entry
  Time begun;
  std::uint64_t bytes = 0;
};

std::string encode_input(const JournalInput& input);
/// Nothing when the bytes make no sense.
std::optional<JournalInput> decode_input(std::string_view bytes);

}  // namespace berth
