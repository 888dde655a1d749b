// PeakModel: what a recipe's runs tell about the memory of a job with other numbers.
//
// The expected peak is that of a PeakFit. How far above it a job may come, the fit's own past
// errors say: each run as foretold from all others. While these are few, a heavy-tailed spread
// stands for those not seen yet; once there are enough, their own quantile counts. Numbers that are
// not in the fit may still matter a little, so a job far away in them is less certain. A number
// that has always been the same, and one far beyond all that were seen, tell nothing: then there is
// no claim.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "core/number_range.h"
#include "core/peak_fit.h"

namespace berth {

struct PeakEstimate {
  /// A job passes this with the probability that was asked; nothing: too little is known.
  std::optional<double> upper;
  /// Without an upper: about how many more runs it takes, this job included.
  int more_runs = 0;
};

class PeakModel {
 public:
  /// `risk`: how often a job may pass its upper, such as 0.01.
  PeakModel(std::span<const PeakRun> runs, double risk);

  /// Allocators round, and libraries pick other kernels: never less than this above the expected.
  static constexpr double kLeastMargin = 1.1;

  PeakEstimate at(std::span<const double> numbers) const;

  const PeakFit& fit() const { return fit_; }
  std::size_t runs() const { return runs_; }
  /// How much a job's peak differs from the expected one, relatively.
  double spread() const { return spread_; }
  /// How many spreads the upper lies above the expected peak.
  double reach() const { return reach_; }
  /// The numbers to put into the fit; nothing when one is too far from all that were seen.
  std::optional<std::vector<double>> reachable(std::span<const double> numbers) const;
  /// The relative variance that comes from where these numbers are.
  double doubt(std::span<const double> numbers) const;

 private:
  int freedom() const;
  void calibrate();
  int runs_until_sure() const;

  PeakFit fit_;
  std::vector<NumberRange> ranges_;
  double risk_;
  std::size_t runs_;
  double spread_ = 0;
  double reach_ = 0;
};

}  // namespace berth
