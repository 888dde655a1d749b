// Words as a shell reads them.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace berth {

/// A shell command of exactly these words, whatever blanks and quotes are in them.
std::string shell_words(std::span<const std::string_view> words);

}  // namespace berth
