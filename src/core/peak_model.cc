#include "core/peak_model.h"

#include <algorithm>
#include <cmath>

#include "core/student.h"

namespace berth {
namespace {

/// Where a claim would be more than this above the expected peak, a device alone is better.
constexpr double kMostMargin = 2.0;
/// More are not asked for: by then, something else will have been learned.
constexpr int kMostRunsAsked = 20;
}  // namespace

PeakModel::PeakModel(std::span<const PeakRun> runs, double risk)
    : fit_(runs), risk_(risk), runs_(runs.size()) {
  for (std::size_t place = 0; place < runs[0].numbers.size(); ++place) {
    ranges_.emplace_back(place, runs, fit_);
  }
  calibrate();
}

int PeakModel::freedom() const {
  return std::max(1, kUsualRuns + static_cast<int>(runs_) - static_cast<int>(fit_.parameters()));
}

void PeakModel::calibrate() {
  std::vector<double> errors = fit_.errors();
  double sum = kUsualRuns * kUsualSpread * kUsualSpread;
  for (const double error : errors) {
    sum += error * error;
  }
  spread_ = std::sqrt(sum / freedom());
  reach_ = student_upper(risk_, freedom());
  // The errors' own quantile, as soon as there are so many that one of them is that high.
  const auto rank =
      static_cast<std::size_t>(std::ceil((1 - risk_) * static_cast<double>(runs_ + 1)));
  if (rank <= runs_) {
    std::sort(errors.begin(), errors.end());
    reach_ = std::max(0.0, errors[rank - 1]) / spread_;
  }
}

std::optional<std::vector<double>> PeakModel::reachable(std::span<const double> numbers) const {
  std::vector<double> near;
  for (std::size_t i = 0; i < ranges_.size(); ++i) {
    const std::optional<double> number = ranges_[i].reachable(numbers[i]);
    if (!number) {
      return std::nullopt;
    }
    near.push_back(*number);
  }
  return near;
}

double PeakModel::doubt(std::span<const double> numbers) const {
  double doubt = 0;
  for (std::size_t i = 0; i < ranges_.size(); ++i) {
    doubt += ranges_[i].doubt(numbers[i], spread_);
  }
  return doubt;
}

PeakEstimate PeakModel::at(std::span<const double> numbers) const {
  const std::optional<std::vector<double>> near = reachable(numbers);
  if (!near) {
    return {std::nullopt, 1};
  }
  const PeakGuess guess = fit_.at(*near);
  if (!(guess.peak > 0)) {
    return {std::nullopt, 1};
  }
  const double margin =
      std::exp(reach_ * std::sqrt(spread_ * spread_ * (1 + guess.leverage) + doubt(*near)));
  if (!(margin <= kMostMargin)) {
    return {std::nullopt, runs_until_sure()};
  }
  return {guess.peak * std::max(margin, kLeastMargin), 0};
}

/// If further runs vary like those before, and are near this one.
int PeakModel::runs_until_sure() const {
  int more = 1;
  while (more < kMostRunsAsked &&
         student_upper(risk_, freedom() + more) * spread_ > std::log(kMostMargin)) {
    ++more;
  }
  return more;
}

}  // namespace berth
