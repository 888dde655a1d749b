// What the small languages of a sweep (template, parameters, constraints) share: the form of a
// parameter's name, and how messages name a place in a text.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

namespace berth {

/// Letters of any alphabet and '_'.
constexpr bool is_name_start(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
         static_cast<unsigned char>(c) >= 0x80;
}

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Characters that may stand in an expression without braces around them.
constexpr bool is_word_char(char c) { return is_name_start(c) || is_digit(c); }

/// `lr`, `batch-size`, `model.depth`: what `{…}` may hold.
constexpr bool is_param_name(std::string_view text) {
  return !text.empty() && is_name_start(text.front()) &&
         std::all_of(text.begin(), text.end(),
                     [](char c) { return is_word_char(c) || c == '-' || c == '.'; });
}

/// The column, from 1, of the byte at `offset`; characters count, not bytes.
constexpr std::size_t column_of(std::string_view text, std::size_t offset) {
  const std::string_view before = text.substr(0, offset);
  return 1 + static_cast<std::size_t>(std::count_if(before.begin(), before.end(), [](char c) {
           return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
         }));
}

/// The names of `params` as "a, b, c", or "none".
template <class Params>
std::string names_of(const Params& params) {
  std::string names;
  for (const auto& param : params) {
    names += (names.empty() ? "" : ", ") + param.name();
  }
  return names.empty() ? "none" : names;
}

}  // namespace berth
