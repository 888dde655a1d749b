// Spare memory of buffers: there may be thousands of connections, and most of them are idle.
#pragma once

#include <string>

namespace berth {

/// How much memory an empty buffer may keep for its next use.
inline constexpr std::size_t kKeptCapacity = std::size_t{16} * 1024;

inline void free_if_empty_and_large(std::string& buffer) {
  if (buffer.empty() && buffer.capacity() > kKeptCapacity) {
    buffer.shrink_to_fit();
  }
}

}  // namespace berth
