#pragma once

#include <string>

#include "base/result.h"

namespace berth {

/// The contents of a file, unpacked if it is gzipped; `-` is standard input.
Result<std::string> read_text(const std::string& path);

}  // namespace berth
