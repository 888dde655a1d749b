// LengthBook: how long jobs run, by recipe, and for recipes that have not run yet by project and by
// user.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>

#include "core/kept_lately.h"
#include "core/recipe.h"
#include "core/recipe_lengths.h"

namespace berth {

/// The newest lengths of whatever ran.
class RecentLengths {
 public:
  /// True when the outlook has changed so much that waiting jobs should follow.
  bool learn(Duration length);
  const LengthOutlook& outlook() const { return outlook_; }

 private:
  std::deque<Duration> lengths_;  // the newest last
  LengthOutlook outlook_;
  Duration told_ = kForever;  // the median when learn() was last true
};

class LengthBook {
 public:
  LengthBook();

  /// By the recipe's past, or that of its project, or that of its user; else unknown.
  LengthOutlook outlook(const Recipe& recipe, std::uint32_t user) const;
  /// How long jobs of any kind ran lately.
  LengthOutlook typical() const { return all_.outlook(); }

  /// Whether jobs of this recipe have ended: others then say nothing about it.
  bool has_run(const std::string& recipe) const { return recipes_.find(recipe) != nullptr; }

  /// Whose outlooks have changed so much that waiting jobs should follow.
  struct Changed {
    bool recipe = false;  // of this recipe's jobs
    bool others = false;  // of the project's or the user's jobs whose recipes have not run
  };
  /// A job of this user has ended well after `length`.
  Changed learn(const Recipe& recipe, std::uint32_t user, Duration length);
  void forget() { *this = LengthBook(); }

 private:
  KeptLately<RecipeLengths> recipes_;
  KeptLately<RecentLengths> projects_;
  KeptLately<RecentLengths> users_;
  RecentLengths all_;
};

}  // namespace berth
