// Whole files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/result.h"

namespace berth {

/// All bytes of a file; NotFound when there is none. One of more than `most` bytes is refused.
Result<std::string> read_file(const std::string& path, std::size_t most = SIZE_MAX);

}  // namespace berth
