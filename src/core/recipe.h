// Recipes: which jobs are the same work again. What one run has shown (how long it took, how much
// memory it used) is then expected of the next.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace berth {

struct Recipe {
  /// The project and the command with its numbers masked: "vision\ntrain.py --lr # --seed #".
  std::string key;
  std::vector<double> numbers;  // the masked numbers, in order
};

Recipe recipe_of(std::string_view project, std::string_view command);

}  // namespace berth
