// NumberRange: what the runs of a recipe have shown of one of its numbers, and how far a job's
// number may be from that.
#pragma once

#include <optional>
#include <span>

#include "core/peak_fit.h"

namespace berth {

class NumberRange {
 public:
  /// The number at `place` in each of these runs, which are those that were fitted.
  NumberRange(std::size_t place, std::span<const PeakRun> runs, const PeakFit& fit);

  /// The number to put into the fit: where memory falls beyond what was seen, the last one seen,
  /// which is safe but wasteful. Nothing: it is too far away.
  std::optional<double> reachable(double number) const;
  /// The relative variance of the peak that comes from where this number is, when the peaks
  /// themselves vary by `spread`.
  double doubt(double number, double spread) const;

 private:
  /// One end of the range.
  struct End {
    double number = 0;
    bool sure = true;      // the last runs there were foretold by the others
    double variance = 0;   // of the errors of the last few
    bool to_more = false;  // memory grows beyond it
  };

  bool matters() const { return low_.to_more || high_.to_more; }
  const End* beyond(double number) const;
  double logarithm(double number) const;
  void find_directions(std::size_t place, const PeakFit& fit);
  void judge_end(End& end, std::size_t place, std::span<const PeakRun> runs, const PeakFit& fit);

  End low_;
  End high_;
  // For a number that does not seem to matter: where its logarithms are.
  double zero_ = 1;  // what is added so that 0 has one
  double middle_ = 0;
  double variation_ = 0;  // the sum of squared distances from the middle
};

}  // namespace berth
