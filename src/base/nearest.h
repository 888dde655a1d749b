// "Did you mean …?": the known word that a mistyped one was probably meant to be.
#pragma once

#include <span>
#include <string_view>

namespace berth {

/// The first of the candidates that are fewest letters away from `word`, or "" when none is within
/// two.
std::string_view nearest(std::string_view word, std::span<const std::string_view> candidates);

}  // namespace berth
