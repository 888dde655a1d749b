// Reading words that users wrote: lists in one word, variables of the environment.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace berth {

/// The parts between separators; a separator at the end adds no empty part.
std::vector<std::string_view> split(std::string_view text, char separator);

/// Empty where it is not set.
std::string environment_variable(const char* name);

}  // namespace berth
