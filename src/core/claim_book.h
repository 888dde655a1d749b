// ClaimBook: what is known about the memory of jobs, by recipe, and so how much the next job should
// claim.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "base/units.h"
#include "core/recipe.h"
#include "core/recipe_peaks.h"

namespace berth {

/// How often a job may use more than its claim, unless the user says otherwise.
inline constexpr double kUsualOomRisk = 0.01;

class ClaimBook {
 public:
  explicit ClaimBook(double risk = kUsualOomRisk) : risk_(risk) {}

  PeakOutlook outlook(const Recipe& recipe) const;
  /// The memory that the next such job should claim on each device; nothing when unknown.
  std::optional<Bytes> claim(const Recipe& recipe) const { return outlook(recipe).claim; }

  /// A job has ended well and used at most `peak` on a device; 0: not measured. True when the
  /// claims of this recipe's jobs may be different from now on.
  bool learn(const Recipe& recipe, Bytes peak);
  /// A job ran out of memory and would have used at least this much. Holds until a job ends well.
  bool learn_at_least(const Recipe& recipe, Bytes memory);
  void forget() { recipes_.clear(); }

 private:
  RecipePeaks& find(const Recipe& recipe);

  double risk_;
  std::map<std::string, RecipePeaks> recipes_;
};

}  // namespace berth
