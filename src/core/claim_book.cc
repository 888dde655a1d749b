#include "core/claim_book.h"

namespace berth {

PeakOutlook ClaimBook::outlook(const Recipe& recipe) const {
  const auto found = recipes_.find(recipe.key);
  return found == recipes_.end() ? PeakOutlook{std::nullopt, 1}
                                 : found->second.outlook(recipe.numbers);
}

RecipePeaks& ClaimBook::find(const Recipe& recipe) {
  // Commands whose texts differ in more than numbers would otherwise be remembered without end.
  constexpr std::size_t kMostRecipes = 20'000;
  if (recipes_.size() >= kMostRecipes && !recipes_.contains(recipe.key)) {
    recipes_.clear();
  }
  return recipes_.try_emplace(recipe.key, risk_, recipe.numbers.size()).first->second;
}

bool ClaimBook::learn(const Recipe& recipe, Bytes peak) {
  return peak > Bytes{} && find(recipe).learn(recipe.numbers, peak);
}

bool ClaimBook::learn_at_least(const Recipe& recipe, Bytes memory) {
  return find(recipe).learn_at_least(recipe.numbers, memory);
}

}  // namespace berth
