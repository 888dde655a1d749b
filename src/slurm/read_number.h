// Numbers in what Slurm and its jobs write.
#pragma once

#include <charconv>
#include <string_view>

namespace berth {

/// False when the whole word is not a number.
template <class T>
bool read_number(std::string_view word, T& value) {
  const auto read = std::from_chars(word.data(), word.data() + word.size(), value);
  return read.ec == std::errc() && read.ptr == word.data() + word.size();
}

}  // namespace berth
