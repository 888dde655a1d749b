// Reads the CSV file of `berth recipes evaluate`.
#pragma once

#include <string_view>
#include <vector>

#include "base/result.h"
#include "core/learning_trial.h"

namespace berth {

/// Columns command and peak_mib, and seconds if there are any, in any order; others are ignored.
Result<std::vector<TrialJob>> parse_trial(std::string_view text);

}  // namespace berth
