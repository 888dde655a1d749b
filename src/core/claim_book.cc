#include "core/claim_book.h"

#include "core/recipe_kin.h"

namespace berth {
namespace {

/// Commands whose texts differ in more than numbers would otherwise be remembered without end.
constexpr std::size_t kMostRecipes = 20'000;
/// Recipes of a family that may lend.
constexpr std::size_t kMostKin = 32;
/// A recipe borrows until it has so many runs of its own.
constexpr std::size_t kMostOwnRuns = 12;
/// So many own runs that agree with the lender show that the family's words do not change what
/// matters. Before that is shown, a recipe borrows only after a few runs that agree.
constexpr std::size_t kRunsThatProve = 4;
constexpr std::size_t kRunsBeforeProof = 3;

}  // namespace

PeakOutlook ClaimBook::outlook(const Recipe& recipe) const {
  const auto found = recipes_.find(recipe.key);
  if (found == recipes_.end()) {
    return {std::nullopt, 1};
  }
  const auto& [own, lent] = found->second;
  PeakOutlook outlook = own.outlook(recipe.numbers);
  if (!outlook.claim && lent && own.usable(recipe.numbers)) {
    if (const std::optional<double> upper = lent->upper(recipe.numbers)) {
      outlook.claim = RecipePeaks::round_up(*upper);
      outlook.lent = true;
    }
  }
  return outlook;
}

const RecipePeaks* ClaimBook::peaks(const std::string& key) const {
  const auto found = recipes_.find(key);
  return found == recipes_.end() ? nullptr : &found->second.own;
}

ClaimBook::Known& ClaimBook::find(const Recipe& recipe) {
  if (const auto found = recipes_.find(recipe.key); found != recipes_.end()) {
    return found->second;
  }
  if (recipes_.size() >= kMostRecipes) {
    forget();
  }
  std::deque<std::string>& kin = families_[family_of(recipe.key)].keys;
  kin.push_back(recipe.key);
  if (kin.size() > kMostKin) {
    kin.pop_front();
  }
  return recipes_.emplace(recipe.key, Known{RecipePeaks(risk_, recipe.numbers.size())})
      .first->second;
}

std::shared_ptr<const PeakModel> ClaimBook::lender_of(const std::string& key,
                                                      const Family& family) const {
  std::shared_ptr<const PeakModel> best;
  int most_alike = 0;
  for (const std::string& other : family.keys) {
    std::shared_ptr<const PeakModel> model = recipes_.at(other).own.model();
    const int alike = other == key || model == nullptr ? 0 : likeness(key, other);
    if (alike > most_alike && LentShape::can_lend(*model)) {
      most_alike = alike;
      best = std::move(model);
    }
  }
  return best;
}

bool ClaimBook::borrow(const std::string& key, Known& known) {
  const bool had = known.lent.has_value();
  known.lent.reset();
  if (known.own.cases() > kMostOwnRuns) {
    return had;  // they tell enough by themselves
  }
  std::vector<PeakRun> runs = known.own.newest_runs();
  Family& family = families_.at(family_of(key));
  const std::size_t count = runs.size();
  std::shared_ptr<const PeakModel> lender = lender_of(key, family);
  if (count == 0 || count > kMostOwnRuns || lender == nullptr || family.misled) {
    return had;
  }
  known.lent = LentShape::make(std::move(lender), std::move(runs));
  family.misled = !known.lent;
  family.proven = family.proven || count >= kRunsThatProve;
  if (!family.proven && count < kRunsBeforeProof) {
    known.lent.reset();
  }
  return had || known.lent;
}

bool ClaimBook::learn(const Recipe& recipe, Bytes peak) {
  if (peak <= Bytes{}) {
    return false;
  }
  Known& known = find(recipe);
  const bool changed = known.own.learn(recipe.numbers, peak);
  return borrow(recipe.key, known) || changed;
}

bool ClaimBook::learn_at_least(const Recipe& recipe, Bytes memory) {
  Known& known = find(recipe);
  const bool changed = known.own.learn_at_least(recipe.numbers, memory);
  return borrow(recipe.key, known) || changed;
}

void ClaimBook::forget() {
  recipes_.clear();
  families_.clear();
}

}  // namespace berth
