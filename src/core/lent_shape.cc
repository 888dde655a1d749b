#include "core/lent_shape.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace berth {
namespace {

/// With fewer runs a lender may not have seen yet what matters.
constexpr std::size_t kLeastRuns = 10;
/// A lender whose own claims are further above its guesses has not understood its jobs.
constexpr double kMostOwnMargin = 1.5;
/// Where a claim would be more than this above the guess, a device alone is better.
constexpr double kMostMargin = 2.0;
constexpr double kUnbounded = std::numeric_limits<double>::infinity();

}  // namespace

bool LentShape::can_lend(const PeakModel& lender) {
  return lender.runs() >= kLeastRuns &&
         std::exp(lender.reach() * lender.spread()) <= kMostOwnMargin;
}

std::optional<LentShape> LentShape::make(std::shared_ptr<const PeakModel> lender,
                                         std::vector<PeakRun> runs) {
  LentShape lent(std::move(lender), std::move(runs));
  return lent.agree() ? std::optional(std::move(lent)) : std::nullopt;
}

/// The most that a job can use if this run is made of the lender's shapes, in whatever parts.
double LentShape::bound(const PeakRun& run, std::span<const double> numbers) const {
  double growth = 1;
  for (const PeakShape& shape : lender_->fit().shapes()) {
    const double now = shape.at(numbers);
    const double then = shape.at(run.numbers);
    if (now > then) {
      growth = std::max(growth, then > 0 ? now / then : kUnbounded);
    }
  }
  return run.peak * growth;
}

double LentShape::least_bound(std::span<const double> numbers) const {
  double least = kUnbounded;
  double smaller = 0;  // the highest peak of a run that should have used less
  for (const PeakRun& run : runs_) {
    least = std::min(least, bound(run, numbers));
    if (bound({{numbers.begin(), numbers.end()}, 1}, run.numbers) <= 1) {
      smaller = std::max(smaller, run.peak);
    }
  }
  return std::max(least, smaller);
}

/// As if these jobs took as many times more than the lender's everywhere.
double LentShape::guess(std::span<const double> numbers) const {
  const double lenders = lender_->fit().at(numbers).peak;
  std::vector<double> guesses;
  for (const PeakRun& run : runs_) {
    guesses.push_back(run.peak * lenders / lender_->fit().at(run.numbers).peak);
  }
  const auto middle = guesses.begin() + static_cast<std::ptrdiff_t>(guesses.size() / 2);
  std::nth_element(guesses.begin(), middle, guesses.end());
  return *middle;
}

/// Both the run that bounds a job and the job itself vary.
double LentShape::margin(std::span<const double> numbers) const {
  const double spread = lender_->spread();
  const double variance = 2 * spread * spread + lender_->doubt(numbers);
  return std::max(PeakModel::kLeastMargin, std::exp(lender_->reach() * std::sqrt(variance)));
}

bool LentShape::agree() const {
  return std::all_of(runs_.begin(), runs_.end(), [&](const PeakRun& run) {
    return std::all_of(runs_.begin(), runs_.end(), [&](const PeakRun& other) {
      return run.peak <= bound(other, run.numbers) * margin(run.numbers);
    });
  });
}

std::optional<double> LentShape::upper(std::span<const double> numbers) const {
  const std::optional<std::vector<double>> near = lender_->reachable(numbers);
  if (!near) {
    return std::nullopt;
  }
  const double upper = least_bound(*near) * margin(*near);
  return upper <= kMostMargin * guess(*near) ? std::optional(upper) : std::nullopt;
}

}  // namespace berth
