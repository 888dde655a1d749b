// berth recipes evaluate: how well the learner would have done on jobs of the past.
#pragma once

#include <string>

#include "base/result.h"

namespace berth {

/// Replays the jobs of a CSV file, and prints how that went.
Result<void> evaluate_recipes(const std::string& path, double risk, bool json);

}  // namespace berth
