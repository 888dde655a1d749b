// LearnedRecipes: what the peaks file of this home teaches, recipe by recipe.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "core/claim_book.h"
#include "memory/past_run.h"

namespace berth {

struct LearnedRecipe {
  std::string id;  // a short name, the same as long as the recipe is
  std::string project;
  std::string command;        // with # for each number
  std::vector<PastRun> runs;  // in the order of their ends

  const std::string& key() const { return runs.front().recipe.key; }
  std::optional<Bytes> typical_peak() const;
  std::optional<Duration> typical_length() const;
};

class LearnedRecipes {
 public:
  LearnedRecipes(std::vector<PastRun> runs, double risk);

  /// Those that ran last come first.
  const std::vector<LearnedRecipe>& all() const { return all_; }
  const ClaimBook& book() const { return book_; }

  /// The recipe of this id or of its beginning, or of this command.
  Result<const LearnedRecipe*> find(std::string_view word) const;

  /// What is known about jobs with other numbers than those that have run, in the midst of them.
  PeakEstimate for_other_numbers(const LearnedRecipe& recipe) const;
  /// "batch × length", "width²": what memory grows with.
  std::vector<std::string> what_matters(const LearnedRecipe& recipe) const;

 private:
  std::vector<LearnedRecipe> all_;
  ClaimBook book_;
};

}  // namespace berth
