// How deeply a TOML text nests, before anybody reads it: readers call themselves for each table
// within a table, also to let go of it again, and `a.a.a.a…` is a million of them in two megabytes.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace berth {

/// Where a key has more than `most` dots, or brackets are within more than `most` brackets. What
/// stands behind the first mistake in the text may be misjudged: no reader gets there.
std::optional<std::size_t> find_deep_nesting(std::string_view text, std::size_t most);

}  // namespace berth
