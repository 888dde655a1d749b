// Changes as bytes, for the redo log. The format is in docs/formats.md.
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "store/changes.h"

namespace berth {

/// Encodes the changes from number `from` on; nothing when that takes more than `most` bytes.
std::optional<std::string> encode_changes(const std::deque<Change>& changes, std::size_t from,
                                          std::size_t most);
/// Nothing when the bytes make no sense.
std::optional<std::vector<Change>> decode_changes(std::string_view bytes);

}  // namespace berth
