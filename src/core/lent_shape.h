// LentShape: what the model of one recipe tells about a kindred recipe of which only a few runs are
// known.
//
// The lender tells which shapes memory is made of; how much of each, it does not: another network
// may have more weights but activations of the same size. So from each own run follows a bound that
// holds however its memory is made up: no part of it grows by more than its shape does. The least
// of these bounds counts, with a margin for what peaks vary anyhow. Where the bounds are wide, or
// the own runs contradict them, nothing is lent.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "core/peak_model.h"

namespace berth {

class LentShape {
 public:
  static bool can_lend(const PeakModel& lender);
  /// From a lender that can lend. Nothing when the runs, of which there is at least one, contradict
  /// each other if they are made of the lender's shapes.
  static std::optional<LentShape> make(std::shared_ptr<const PeakModel> lender,
                                       std::vector<PeakRun> runs);

  /// As PeakEstimate::upper.
  std::optional<double> upper(std::span<const double> numbers) const;

 private:
  LentShape(std::shared_ptr<const PeakModel> lender, std::vector<PeakRun> runs)
      : lender_(std::move(lender)), runs_(std::move(runs)) {}

  double bound(const PeakRun& run, std::span<const double> numbers) const;
  double least_bound(std::span<const double> numbers) const;
  double guess(std::span<const double> numbers) const;
  double margin(std::span<const double> numbers) const;
  bool agree() const;

  std::shared_ptr<const PeakModel> lender_;
  std::vector<PeakRun> runs_;
};

}  // namespace berth
