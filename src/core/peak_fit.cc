#include "core/peak_fit.h"

#include <algorithm>
#include <cmath>
#include <optional>

namespace berth {
namespace {

constexpr std::size_t kMostShapes = 4;
/// Of the shapes that follow the peaks best, these many are held against each run's own error.
constexpr std::size_t kFinalists = 4;
/// A run that alone decides its own value says nothing about errors; the worst is assumed.
constexpr double kWorstError = 2;

/// A column for the fit: 1 is to be met in each run, so that errors count relative to its peak.
template <class Value>
LeastSquares::Column over_peaks(std::span<const PeakRun> runs, Value value) {
  LeastSquares::Column column;
  column.reserve(runs.size());
  for (const PeakRun& run : runs) {
    column.push_back(value(run) / run.peak);
  }
  return column;
}

}  // namespace

struct PeakFit::Candidate {
  PeakShape shape;
  LeastSquares::Column column;  // its values over the peaks
  LeastSquares::Column fresh;   // what of that is not yet in the fit
  double least;                 // below this length nothing of it is new

  Candidate(PeakShape its_shape, LeastSquares::Column its_column)
      : shape(std::move(its_shape)),
        column(std::move(its_column)),
        fresh(column),
        least(dot(column, column) * 1e-8) {}

  /// By how much it would lessen the sum of squares.
  double gain(std::span<const double> residuals) const {
    const double length = dot(fresh, fresh);
    const double along = dot(fresh, residuals);
    return length > least ? along * along / length : 0;
  }
};

PeakFit::PeakFit(std::span<const PeakRun> runs) : squares_(runs.size()) {
  squares_.add(over_peaks(runs, [](const PeakRun&) { return 1.0; }));
  judge();
  if (runs.size() < 3) {
    return;  // two runs are met by any shape
  }
  const PeakFit constant = *this;
  for (const ShapeChoice choice : {ShapeChoice::Sums, ShapeChoice::Products}) {
    constant.search(runs, choice, *this);
  }
}

void PeakFit::search(std::span<const PeakRun> runs, ShapeChoice choice, PeakFit& best) const {
  std::vector<Candidate> candidates;
  for (PeakShape& shape : possible_shapes(runs, choice)) {
    LeastSquares::Column column =
        over_peaks(runs, [&](const PeakRun& run) { return shape.at(run.numbers); });
    candidates.emplace_back(std::move(shape), std::move(column));
    remove_part(candidates.back().fresh, squares_.basis().back());
  }
  PeakFit path = *this;
  while (path.shapes_.size() < kMostShapes && path.extend(candidates)) {
    for (Candidate& candidate : candidates) {
      remove_part(candidate.fresh, path.squares_.basis().back());
    }
    path.doubt_by(candidates.size());
    if (path.doubtful_loss_ < best.doubtful_loss_) {
      best = path;
    }
  }
}

/// The more shapes were tried, the better one is by chance.
void PeakFit::doubt_by(std::size_t tried) {
  const auto rows = static_cast<double>(errors_.size());
  const double doubt = std::log(rows) + 2 * std::log(1.0 + static_cast<double>(tried));
  doubtful_loss_ = loss_ * std::exp(doubt * static_cast<double>(shapes_.size()) / rows);
}

bool PeakFit::extend(const std::vector<Candidate>& candidates) {
  std::vector<std::pair<double, std::size_t>> order;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    order.emplace_back(-candidates[i].gain(squares_.residuals()), i);
  }
  std::sort(order.begin(), order.end());
  std::optional<PeakFit> best;
  std::size_t tried = 0;
  for (const auto& [gain, i] : order) {
    if (gain >= 0 || tried == kFinalists) {
      break;
    }
    PeakFit next = *this;
    if (next.take_in(candidates[i])) {
      ++tried;
      if (!best || next.loss_ < best->loss_) {
        best = std::move(next);
      }
    }
  }
  if (best) {
    *this = std::move(*best);
  }
  return best.has_value();
}

/// Memory may grow with a number or fall with it, but not both.
bool PeakFit::contradicts(const PeakShape& shape) const {
  for (const PeakFactor& factor : shape.factors) {
    for (const PeakShape& taken : shapes_) {
      for (const PeakFactor& other : taken.factors) {
        if (factor.place == other.place && factor.falls() != other.falls()) {
          return true;
        }
      }
    }
  }
  return false;
}

bool PeakFit::take_in(const Candidate& candidate) {
  if (contradicts(candidate.shape) || !squares_.add(candidate.column)) {
    return false;
  }
  shapes_.push_back(candidate.shape);
  judge();
  return std::all_of(weights_.begin() + 1, weights_.end(),
                     [](double weight) { return weight >= 0; });
}

void PeakFit::judge() {
  weights_ = squares_.weights();
  errors_.clear();
  // So that few runs with small errors do not ask for a shape.
  loss_ = kUsualRuns * kUsualSpread * kUsualSpread;
  for (std::size_t i = 0; i < squares_.residuals().size(); ++i) {
    const double left = 1 - squares_.leverages()[i];
    // The guess without this run, over its peak.
    const double guess = left > 1e-6 ? 1 - squares_.residuals()[i] / left : 0;
    const double error = guess > 0 ? -std::log(guess) : kWorstError;
    errors_.push_back(std::clamp(error, -kWorstError, kWorstError));
    loss_ += errors_.back() * errors_.back();
  }
  doubtful_loss_ = loss_;
}

PeakGuess PeakFit::at(std::span<const double> numbers) const {
  std::vector<double> row = {1};
  for (const PeakShape& shape : shapes_) {
    row.push_back(shape.at(numbers));
  }
  const double peak = dot(row, weights_);
  for (double& value : row) {
    value /= peak;
  }
  return {peak, squares_.leverage_of(row)};
}

}  // namespace berth
