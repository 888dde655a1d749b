// Whole files.
#pragma once

#include <string>

#include "base/result.h"

namespace berth {

/// All bytes of a file; NotFound when there is none.
Result<std::string> read_file(const std::string& path);

}  // namespace berth
