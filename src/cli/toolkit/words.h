// Reads words from users: lists in one word, environment variables.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace berth {

/// The parts between separators; a separator at the end adds no empty part.
std::vector<std::string_view> split(std::string_view text, char separator);

/// Empty when the variable is not set.
std::string environment_variable(const char* name);

}  // namespace berth
