// Secrets: texts that cannot be guessed, and files that no other user can read.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.h"

namespace berth {

/// `bytes` random bytes from the kernel (at most 256), as hex digits.
Result<std::string> random_hex(std::size_t bytes);

/// 16 random hex digits, for a unique file name or mark.
std::string random_name();

/// Replaces the file with `text`, whole or not at all; mode 0600. The file is on disk when this
/// returns.
Result<void> replace_private_file(const std::string& path, std::string_view text);

}  // namespace berth
