// How much the daemon itself takes.
#pragma once

#include <cstdint>

namespace berth {

/// Memory of this process; 0 where nobody can tell.
std::uint64_t resident_bytes();

}  // namespace berth
