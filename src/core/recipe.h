// Recipes: which jobs are the same work again. What one run has taught (how long it took, how much
// memory it used) is then expected of the next.
#pragma once

#include <string>

#include "core/description.h"

namespace berth {

/// The project and the command with its numbers masked: "vision\ntrain.py --lr # --seed #".
std::string recipe_of(const JobDescription& job);

}  // namespace berth
