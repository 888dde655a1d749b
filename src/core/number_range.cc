#include "core/number_range.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace berth {
namespace {

/// How far beyond the numbers seen a fit is trusted, towards more memory and towards less.
constexpr double kBeyond = 1.25;
constexpr double kBelow = 2.0;
/// Peaks of numbers that have not been told apart could differ like this power of their ratio.
constexpr double kLikelyPower = 0.5;
/// A run so far above what the others foretell shows that something is new there; more so where
/// errors are common.
constexpr double kSurprise = 0.08;
constexpr double kSurprisingErrors = 3;
/// The runs at an end that tell how well the fit does there.
constexpr std::size_t kLastRuns = 4;

double middle_size(std::vector<double> errors) {
  for (double& error : errors) {
    error = std::abs(error);
  }
  const auto middle = errors.begin() + static_cast<std::ptrdiff_t>(errors.size() / 2);
  std::nth_element(errors.begin(), middle, errors.end());
  return *middle;
}

}  // namespace

NumberRange::NumberRange(std::size_t place, std::span<const PeakRun> runs, const PeakFit& fit) {
  const auto less = [place](const PeakRun& a, const PeakRun& b) {
    return a.numbers[place] < b.numbers[place];
  };
  const auto [low, high] = std::minmax_element(runs.begin(), runs.end(), less);
  low_.number = low->numbers[place];
  high_.number = high->numbers[place];
  find_directions(place, fit);
  judge_end(low_, place, runs, fit);
  judge_end(high_, place, runs, fit);
  zero_ = high_.number > 0 ? high_.number : 1;
  for (const PeakRun& run : runs) {
    zero_ = run.numbers[place] > 0 ? std::min(zero_, run.numbers[place]) : zero_;
  }
  for (const PeakRun& run : runs) {
    middle_ += logarithm(run.numbers[place]) / static_cast<double>(runs.size());
  }
  for (const PeakRun& run : runs) {
    variation_ += std::pow(logarithm(run.numbers[place]) - middle_, 2);
  }
}

void NumberRange::find_directions(std::size_t place, const PeakFit& fit) {
  for (const PeakShape& shape : fit.shapes()) {
    for (const PeakFactor& factor : shape.factors) {
      if (factor.place == place) {
        (factor.falls() ? low_ : high_).to_more = true;
      }
    }
  }
}

void NumberRange::judge_end(End& end, std::size_t place, std::span<const PeakRun> runs,
                            const PeakFit& fit) {
  const double surprise = kSurprise + kSurprisingErrors * middle_size(fit.errors());
  std::vector<std::pair<double, double>> near;  // how near a run is, and its error squared
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const double error = fit.errors()[i];
    const double away = std::abs(runs[i].numbers[place] - end.number);
    near.emplace_back(away, error * error);
    end.sure = end.sure && (away > 0 || (!runs[i].passed && error <= surprise));
  }
  const std::size_t last = std::min(near.size(), kLastRuns);
  std::partial_sort(near.begin(), near.begin() + static_cast<std::ptrdiff_t>(last), near.end());
  for (std::size_t i = 0; i < last; ++i) {
    end.variance += near[i].second / static_cast<double>(last);
  }
}

double NumberRange::logarithm(double number) const { return std::log(number + zero_); }

const NumberRange::End* NumberRange::beyond(double number) const {
  return number < low_.number ? &low_ : number > high_.number ? &high_ : nullptr;
}

std::optional<double> NumberRange::reachable(double number) const {
  const End* end = beyond(number);
  if (end == nullptr) {
    return number;
  }
  if (low_.number == high_.number || !end->sure) {
    return std::nullopt;
  }
  if (!matters()) {
    return number;
  }
  const auto [less, more] = std::minmax(number, end->number);
  if (!(more <= less * (end->to_more ? kBeyond : kBelow))) {
    return std::nullopt;
  }
  return end->to_more ? number : end->number;
}

double NumberRange::doubt(double number, double spread) const {
  if (matters()) {
    // Beyond what was seen, memory may grow by another power than it did before.
    const End* end = beyond(number);
    return end == nullptr ? 0 : end->variance + std::pow(std::log(number / end->number), 2);
  }
  const double away = logarithm(number) - middle_;
  return away * away / (1 / (kLikelyPower * kLikelyPower) + variation_ / (spread * spread));
}

}  // namespace berth
