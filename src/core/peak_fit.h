// PeakFit: a constant plus a few shapes with weights, fitted to the peaks of a recipe's runs so
// that the relative errors are least. Which shapes, the runs decide: a shape joins only if each run
// is then clearly better foretold from all others.
#pragma once

#include <span>
#include <vector>

#include "core/least_squares.h"
#include "core/peak_shape.h"

namespace berth {

/// Before anything is known, peaks of the same work are taken to vary by this much; that counts as
/// much as this many runs.
inline constexpr double kUsualSpread = 0.05;
inline constexpr int kUsualRuns = 2;

struct PeakGuess {
  double peak = 0;      // the expected peak; 0 or less: the fit makes no sense there
  double leverage = 0;  // how far from the runs this is: the error's variance grows by 1 + this
};

class PeakFit {
 public:
  /// There is at least one run, and all have equally many numbers.
  explicit PeakFit(std::span<const PeakRun> runs);

  PeakGuess at(std::span<const double> numbers) const;

  const std::vector<PeakShape>& shapes() const { return shapes_; }
  std::size_t parameters() const { return weights_.size(); }
  /// How each run would have been foretold without it: the logarithm of its peak over the guess.
  const std::vector<double>& errors() const { return errors_; }

 private:
  struct Candidate;

  /// Takes in shapes one by one. One shape of a sum may help little before the others have joined,
  /// so all steps are taken; `best` becomes the best of them, if better than it was.
  void search(std::span<const PeakRun> runs, ShapeChoice choice, PeakFit& best) const;
  /// Takes in the candidate that helps most; false when there is none.
  bool extend(const std::vector<Candidate>& candidates);
  /// False when it is nothing new, or when a shape would count against another.
  bool take_in(const Candidate& candidate);
  bool contradicts(const PeakShape& shape) const;
  void doubt_by(std::size_t tried);
  void judge();

  LeastSquares squares_;
  std::vector<PeakShape> shapes_;
  std::vector<double> weights_;  // the constant, then one for each shape
  std::vector<double> errors_;
  double loss_ = 0;           // the sum of squared errors
  double doubtful_loss_ = 0;  // the same, more for each shape taken in
};

}  // namespace berth
