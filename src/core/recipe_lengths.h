// RecipeLengths: how long the jobs of one recipe ran, and so how long the next one will run: a
// median, and an interval around it.
//
// Where the recipe's numbers matter ("--epochs #"), a PeakFit of the newest runs says what to
// expect; else their median does. The interval comes from the recipe's own errors: how far each run
// was from what all others foretold. It is widened after a run that lay outside, and narrowed a
// little after each that lay inside, so that it keeps its promise while the work changes.
#pragma once

#include <deque>
#include <optional>
#include <vector>

#include "base/time.h"
#include "core/peak_fit.h"

namespace berth {

/// How often a length lies within its interval.
inline constexpr double kUsualCoverage = 0.9;

struct LengthOutlook {
  Duration median = kForever;  // kForever: nothing is known
  Duration lower{};
  Duration upper = kForever;

  bool known() const { return median != kForever; }
  bool holds(Duration length) const { return lower <= length && length <= upper; }
};

/// Whether the two differ so much that a job's place in the queue should follow. Small changes are
/// not passed on: there may be a million waiting jobs.
bool differs(Duration one, Duration other);

class RecipeLengths {
 public:
  using Numbers = std::vector<double>;

  /// Jobs of the recipe have `width` numbers.
  explicit RecipeLengths(std::size_t width, double coverage = kUsualCoverage)
      : width_(width), miss_(1 - coverage), asked_(miss_) {}

  LengthOutlook outlook(const Numbers& numbers) const;

  /// A job has ended well. True when outlooks have changed so much that waiting jobs should follow.
  bool learn(const Numbers& numbers, Duration length);

 private:
  struct Guess {
    double middle = 0;   // the logarithm of the seconds
    double stretch = 1;  // of the interval, far from the runs
  };

  bool usable(const Numbers& numbers) const;
  Guess guess(const Numbers& numbers) const;
  void fit();
  void try_numbers();
  bool has_moved();

  std::size_t width_;
  double miss_;                 // the share of lengths outside of the interval that is aimed at now
  double asked_;                // the share that was asked for
  std::deque<PeakRun> runs_;    // with seconds for peaks, the newest last
  std::size_t new_runs_ = 0;    // since the last fit
  std::optional<PeakFit> fit_;  // absent: the numbers do not matter
  double middle_ = 0;           // of the runs' logarithms, or of the fit's errors
  std::vector<double> errors_;  // ascending
  std::vector<std::pair<Numbers, double>> told_;  // what was foretold when learn() was last true
};

}  // namespace berth
