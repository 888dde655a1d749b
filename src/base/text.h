// Cutting texts: each function gives the part of a text that a parser wants, as a view into it.
#pragma once

#include <algorithm>
#include <string_view>

namespace berth {

constexpr std::string_view kBlanks = " \t\r\n";

/// The text without leading and trailing blanks.
constexpr std::string_view trim(std::string_view text, std::string_view blanks = kBlanks) {
  const std::size_t first = std::min(text.find_first_not_of(blanks), text.size());
  text.remove_prefix(first);
  return text.substr(0, text.find_last_not_of(blanks) + 1);
}

/// Removes the part before `end` from the front of the text, together with `end`, and returns that
/// part. Takes the whole text when it has no `end`.
constexpr std::string_view take_until(std::string_view& text, char end) {
  const std::size_t at = std::min(text.find(end), text.size());
  const std::string_view part = text.substr(0, at);
  text.remove_prefix(std::min(at + 1, text.size()));
  return part;
}

}  // namespace berth
