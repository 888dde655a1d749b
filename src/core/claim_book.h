// ClaimBook: what is known about the memory of jobs, by recipe, and so how much the next job should
// claim. A recipe of which little is known borrows from its kin (recipe_kin.h).
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <string>

#include "base/units.h"
#include "core/lent_shape.h"
#include "core/recipe.h"
#include "core/recipe_peaks.h"

namespace berth {

/// How often a job may use more than its claim, unless the user says otherwise.
inline constexpr double kUsualOomRisk = 0.01;
inline constexpr double kLeastOomRisk = 0.0001;
inline constexpr double kMostOomRisk = 0.5;

class ClaimBook {
 public:
  explicit ClaimBook(double risk = kUsualOomRisk) : risk_(risk) {}

  double risk() const { return risk_; }
  PeakOutlook outlook(const Recipe& recipe) const;
  /// The memory that the next such job should claim on each device; nothing when unknown.
  std::optional<Bytes> claim(const Recipe& recipe) const { return outlook(recipe).claim; }
  /// What the recipe's own runs tell; null when there are none.
  const RecipePeaks* peaks(const std::string& key) const;

  /// A job has ended well and used at most `peak` on a device; 0: not measured. True when the
  /// claims of this recipe's jobs may be different from now on.
  bool learn(const Recipe& recipe, Bytes peak);
  /// A job ran out of memory and would have used at least this much. Holds until a job ends well.
  bool learn_at_least(const Recipe& recipe, Bytes memory);
  void forget();

 private:
  struct Known {
    RecipePeaks own;
    std::optional<LentShape> lent = std::nullopt;
  };

  /// Recipes that may lend to each other.
  struct Family {
    std::deque<std::string> keys;  // the newest last
    bool proven = false;           // what was lent has turned out to be right once
    bool misled = false;           // or wrong: nothing more is lent
  };

  Known& find(const Recipe& recipe);
  /// What its kin lend may be different now. True when that may change claims.
  bool borrow(const std::string& key, Known& known);
  std::shared_ptr<const PeakModel> lender_of(const std::string& key, const Family& family) const;

  double risk_;
  std::map<std::string, Known> recipes_;
  std::map<std::string, Family> families_;
};

}  // namespace berth
