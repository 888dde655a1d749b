// Packing answers for clients that can unpack them: a page of jobs is a tenth of its size then,
// which counts where the page is read through a tunnel.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace berth {

/// Shorter answers fit a packet or two anyway; longer ones would hold up other clients (packing
/// takes about a millisecond for 100 KiB).
inline constexpr std::size_t kShortestPacked = std::size_t{2} * 1024;
inline constexpr std::size_t kLongestPacked = std::size_t{512} * 1024;

/// Whether an Accept-Encoding names gzip, and not with q=0.
bool accepts_gzip(std::string_view accept_encoding);

/// Empty when there is no memory for it.
std::string gzip(std::string_view text);

}  // namespace berth
