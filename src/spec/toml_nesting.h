// How deeply a TOML text nests, checked before the text is parsed. Parsers recurse for each table
// within a table, also to free it, and `a.a.a.a…` is a million tables in two megabytes.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace berth {

/// The offset at which a key has more than `most` dots, or brackets are within more than `most`
/// brackets. The text behind the first mistake may be misjudged: no parser gets there.
std::optional<std::size_t> find_deep_nesting(std::string_view text, std::size_t most);

}  // namespace berth
