// Words as a shell reads them.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace berth {

/// A shell command of exactly these words, whatever blanks and quotes are in them.
std::string shell_words(std::span<const std::string_view> words);
std::string shell_words(std::span<const std::string> words);

/// The words of a text, with a shell's rules for blanks, quotes and backslashes. Nothing else is
/// special: `$`, `*` and `;` are plain characters. An error if a quote is not closed.
Result<std::vector<std::string>> split_shell_words(std::string_view text);

/// A text of several lines as one line: they are joined by blanks, and empty ones vanish. A
/// backslash at the end of a line goes with it.
std::string join_lines(std::string_view text);

/// Whether the shell would leave the command running in the background: "train.py &". Then the job
/// ends at once, and berth ends what it left behind.
bool ends_in_background(std::string_view command);

}  // namespace berth
