// PeakGroups: the runs of a recipe, apart by one of their numbers. For a number that is more like a
// word (a precision of 16 or 32 bits), and for one of which too few values were seen to foretell
// others: each value has a model of its own.
#pragma once

#include <map>
#include <optional>
#include <span>

#include "core/peak_model.h"

namespace berth {

class PeakGroups {
 public:
  /// Nothing when no number sets runs apart so that most are alike in their groups.
  static std::optional<PeakGroups> find(std::span<const PeakRun> runs, double risk);

  /// Of the number by which they are apart.
  std::size_t place() const { return place_; }
  PeakEstimate at(std::span<const double> numbers) const;

 private:
  explicit PeakGroups(std::size_t place) : place_(place) {}

  std::size_t place_;
  std::map<double, PeakModel> models_;
};

}  // namespace berth
