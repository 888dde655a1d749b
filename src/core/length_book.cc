#include "core/length_book.h"

#include <algorithm>
#include <vector>

namespace berth {
namespace {

constexpr std::size_t kMostLengthRecipes = 5'000;
constexpr std::size_t kMostPools = 1'000;
constexpr std::size_t kMostRecentLengths = 101;

/// Jobs without a project have none in common.
std::string project_of(const Recipe& recipe) { return recipe.key.substr(0, recipe.key.find('\n')); }

}  // namespace

bool RecentLengths::learn(Duration length) {
  lengths_.push_back(length);
  if (lengths_.size() > kMostRecentLengths) {
    lengths_.pop_front();
  }
  std::vector<Duration> sorted(lengths_.begin(), lengths_.end());
  std::sort(sorted.begin(), sorted.end());
  const auto tail =
      static_cast<std::size_t>(static_cast<double>(sorted.size() + 1) * (1 - kUsualCoverage) / 2);
  outlook_ = {sorted[sorted.size() / 2], Duration{}, kForever};
  if (tail > 0) {
    outlook_.lower = sorted[tail - 1];
    outlook_.upper = sorted[sorted.size() - tail];
  }
  const bool moved = differs(told_, outlook_.median);
  told_ = moved ? outlook_.median : told_;
  return moved;
}

LengthBook::LengthBook()
    : recipes_(kMostLengthRecipes), projects_(kMostPools), users_(kMostPools) {}

LengthOutlook LengthBook::outlook(const Recipe& recipe, std::uint32_t user) const {
  if (const RecipeLengths* own = recipes_.find(recipe.key); own != nullptr) {
    if (const LengthOutlook outlook = own->outlook(recipe.numbers); outlook.known()) {
      return outlook;
    }
  }
  const std::string project = project_of(recipe);
  if (const RecentLengths* other = projects_.find(project); !project.empty() && other != nullptr) {
    return other->outlook();
  }
  const RecentLengths* other = users_.find(std::to_string(user));
  return other == nullptr ? LengthOutlook{} : other->outlook();
}

LengthBook::Changed LengthBook::learn(const Recipe& recipe, std::uint32_t user, Duration length) {
  Changed changed;
  (void)all_.learn(length);
  changed.others = users_.use(std::to_string(user)).learn(length);
  if (const std::string project = project_of(recipe); !project.empty()) {
    changed.others = projects_.use(project).learn(length) || changed.others;
  }
  changed.recipe = recipes_.use(recipe.key, recipe.numbers.size()).learn(recipe.numbers, length);
  return changed;
}

}  // namespace berth
