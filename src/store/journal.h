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

std::string encode_input(const JournalInput& input);
/// Nothing when the bytes make no sense.
std::optional<JournalInput> decode_input(std::string_view bytes);

}  // namespace berth
