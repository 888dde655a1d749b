// Secrets: texts that nobody can guess, and files that nobody else can read.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.h"

namespace berth {

/// So many random bytes from the kernel (at most 256), as hex digits.
Result<std::string> random_hex(std::size_t bytes);

/// 16 hex digits, for a file or a mark that nobody else has.
std::string random_name();

/// Puts `text` in the place of the file, whole or not at all, on disk when this returns; mode 0600.
Result<void> replace_private_file(const std::string& path, std::string_view text);

}  // namespace berth
