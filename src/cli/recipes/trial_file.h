// Reads the CSV files of `berth recipes evaluate` and `import`.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "core/learning_trial.h"

namespace berth {

/// Columns command and peak_mib, and project and seconds if there are any, in any order; others are
/// ignored. A job that says only how long it ran has a peak of 0.
Result<std::vector<TrialJob>> parse_trial(std::string_view text);
Result<std::vector<TrialJob>> read_trial(const std::string& path);

}  // namespace berth
