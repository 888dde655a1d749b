// A trial of the learner: jobs of the past in order, each asked for before it is told. Beside
// berth's own claims stand two simple rules, so that the figures mean something.
#pragma once

#include <optional>
#include <span>

#include "base/units.h"
#include "core/recipe.h"

namespace berth {

struct TrialJob {
  Recipe recipe;
  Bytes peak;  // 0: not measured
  std::optional<double> seconds;
};

struct ClaimFigures {
  std::size_t jobs = 0;
  std::size_t claimed = 0;
  std::size_t out_of_memory = 0;  // of those: they used more than they claimed
  Bytes claims;                   // of all that claimed
  Bytes wasted;                   // what of that they did not use

  double share_claimed() const;
  double share_out_of_memory() const;  // of those that claimed
  double share_wasted() const;         // of all claims
  void count(std::optional<Bytes> claim, Bytes peak);
};

/// How often a job's length lay between the 5th and the 95th percentile of its recipe's past.
struct LengthFigures {
  std::size_t expected = 0;  // jobs whose recipe had run often enough
  std::size_t within = 0;
};

struct LearningTrial {
  ClaimFigures learned;  // by berth
  ClaimFigures exact;    // the highest of the very same command, and a tenth more
  ClaimFigures margin;   // the highest of the recipe whatever its numbers, and a fifth more
  std::optional<LengthFigures> lengths;  // nothing: no job says how long it ran
};

LearningTrial try_learning(std::span<const TrialJob> jobs, double risk);

}  // namespace berth
