// "Did you mean …?": the known word that the user probably meant by a mistyped one.
#pragma once

#include <span>
#include <string_view>

namespace berth {

/// The candidate that is the fewest letters away from `word` (the first if there are several); ""
/// when none is within two letters.
std::string_view nearest(std::string_view word, std::span<const std::string_view> candidates);

}  // namespace berth
