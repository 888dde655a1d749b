// What was learned about a recipe's memory, in words: "batch × length", "width²".
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/peak_shape.h"

namespace berth {

/// What a user calls the numbers of a recipe: "batch" for the one in `--batch #`.
std::vector<std::string> number_names(std::string_view key);

std::string describe(const PeakShape& shape, const std::vector<std::string>& names);

}  // namespace berth
