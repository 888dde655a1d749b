#include "daemon/history.h"

#include <algorithm>
#include <vector>

namespace berth {
namespace {

constexpr std::size_t kRunsOfARecipe = 9;
constexpr std::size_t kRunsLately = 101;
/// Commands whose texts differ in more than numbers would otherwise be remembered without end.
constexpr std::size_t kMostRecipes = 20'000;

}  // namespace

void History::learn(const std::string& recipe, Duration runtime) {
  if (recipes_.size() >= kMostRecipes && !recipes_.contains(recipe)) {
    recipes_.clear();
  }
  add(recipes_[recipe], runtime, kRunsOfARecipe);
  add(lately_, runtime, kRunsLately);
}

Duration History::expected(const std::string& recipe) const {
  const auto runs = recipes_.find(recipe);
  return runs == recipes_.end() ? kForever : median(runs->second);
}

void History::add(Runs& runs, Duration runtime, std::size_t most) {
  runs.push_back(runtime);
  if (runs.size() > most) {
    runs.pop_front();
  }
}

Duration History::median(const Runs& runs) {
  if (runs.empty()) {
    return kForever;
  }
  std::vector<Duration> sorted(runs.begin(), runs.end());
  const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
  std::nth_element(sorted.begin(), middle, sorted.end());
  return *middle;
}

}  // namespace berth
