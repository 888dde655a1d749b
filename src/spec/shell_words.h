// Words as a shell reads them.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace berth {

/// A shell command of exactly these words, whatever blanks and quotes are in them.
std::string shell_words(std::span<const std::string_view> words);

/// Whether the shell would leave the command running in the background: "train.py &". Then the job
/// ends at once, and berth ends what it left behind.
bool ends_in_background(std::string_view command);

}  // namespace berth
