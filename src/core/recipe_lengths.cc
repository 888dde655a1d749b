#include "core/recipe_lengths.h"

#include <algorithm>
#include <cmath>

#include "core/student.h"

namespace berth {
namespace {

constexpr std::size_t kMostLengthsKept = 64;
/// Their median is that of these many: work changes.
constexpr std::ptrdiff_t kNewest = 21;
/// Before anything is known, lengths of the same work are taken to vary by this much, which counts
/// as much as this many runs.
constexpr double kUsualLengthSpread = 0.3;
constexpr int kUsualLengths = 2;
/// How fast the interval follows runs that lie outside of it.
constexpr double kPace = 0.02;
/// The numbers must make errors so much smaller to count.
constexpr double kWorthwhile = 0.8;
/// Of a fit: errors beyond this are cut off, and so say little.
constexpr double kCutOff = 1.99;
/// Further from the runs than this a fit is no better than a median.
constexpr double kMostLeverage = 3;
constexpr double kMaterial = 0.15;
constexpr std::size_t kProbes = 8;

double median_of(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

double mean_size(const std::vector<double>& errors) {
  double sum = 0;
  for (const double error : errors) {
    sum += std::min(std::abs(error), kCutOff);
  }
  return sum / static_cast<double>(errors.size());
}

Duration from_log(double logarithm) {
  constexpr double kMost = 3e9;  // a hundred years
  // In whole milliseconds: the way to the logarithm and back is not exact.
  return std::chrono::milliseconds(
      std::llround(1000 * std::min(std::exp(std::min(logarithm, 100.0)), kMost)));
}

}  // namespace

bool differs(Duration one, Duration other) {
  if (one == kForever || other == kForever) {
    return one != other;
  }
  return std::abs(std::log(std::max(to_seconds(one), 1e-3) / std::max(to_seconds(other), 1e-3))) >
         kMaterial;
}

/// Numbers come from files, too.
bool RecipeLengths::usable(const Numbers& numbers) const {
  return numbers.size() == width_ && std::all_of(numbers.begin(), numbers.end(), [](double number) {
           return std::isfinite(number) && number >= 0;
         });
}

RecipeLengths::Guess RecipeLengths::guess(const Numbers& numbers) const {
  if (!fit_) {
    return {middle_, 1};
  }
  const PeakGuess at = fit_->at(numbers);
  if (at.peak > 0 && at.leverage < kMostLeverage) {
    return {std::log(at.peak) + middle_, std::sqrt(1 + at.leverage)};
  }
  std::vector<double> logs;
  for (const PeakRun& run : runs_) {
    logs.push_back(std::log(run.peak));
  }
  return {median_of(std::move(logs)), 2};
}

LengthOutlook RecipeLengths::outlook(const Numbers& numbers) const {
  if (runs_.empty() || !usable(numbers)) {
    return {};
  }
  const Guess at = guess(numbers);
  const auto runs = static_cast<int>(errors_.size());
  double squares = kUsualLengths * kUsualLengthSpread * kUsualLengthSpread;
  for (const double error : errors_) {
    squares += error * error;
  }
  const int freedom = kUsualLengths + runs - 1;
  double below = 0;
  double above = 0;
  const auto rank = static_cast<int>(std::ceil((1 - miss_ / 2) * (runs + 1)));
  if (rank <= runs) {
    above = errors_[static_cast<std::size_t>(rank - 1)];
    below = errors_[static_cast<std::size_t>(runs - rank)];
  } else {
    // Too few to have such a quantile.
    const double reach = student_upper(miss_ / 2, freedom) * std::sqrt(squares / freedom);
    above = std::max(errors_.back(), reach);
    below = std::min(errors_.front(), -reach);
  }
  return {from_log(at.middle), from_log(at.middle + std::min(0.0, below) * at.stretch),
          from_log(at.middle + std::max(0.0, above) * at.stretch)};
}

bool RecipeLengths::learn(const Numbers& numbers, Duration length) {
  constexpr double kShortest = 1e-3;
  if (!usable(numbers) || length < Duration{}) {
    return false;
  }
  const LengthOutlook foretold = outlook(numbers);
  const bool missed = foretold.known() && !foretold.holds(length);
  if (foretold.known()) {
    miss_ = std::clamp(miss_ + kPace * (asked_ - (missed ? 1 : 0)), asked_ / 20, 4 * asked_);
  }
  runs_.push_back({numbers, std::max(to_seconds(length), kShortest)});
  if (runs_.size() > kMostLengthsKept) {
    runs_.pop_front();
  }
  if (++new_runs_ * 10 < runs_.size() && !missed) {
    return false;
  }
  fit();
  return has_moved();
}

void RecipeLengths::fit() {
  new_runs_ = 0;
  fit_.reset();
  std::vector<double> logs;
  for (const PeakRun& run : runs_) {
    logs.push_back(std::log(run.peak));
  }
  std::vector<double> newest(logs.end() - std::min<std::ptrdiff_t>(std::ssize(logs), kNewest),
                             logs.end());
  std::sort(newest.begin(), newest.end());
  middle_ = newest[newest.size() / 2];
  // The median of the others: without a run of the lower half, the next one takes its place.
  const std::size_t half = (newest.size() - 1) / 2;
  const double above = newest[std::min(half + 1, newest.size() - 1)];
  errors_.clear();
  for (const double log : logs) {
    errors_.push_back(log - (log <= newest[half] ? above : newest[half]));
  }
  if (width_ > 0 && runs_.size() >= 4) {
    try_numbers();
  }
  std::sort(errors_.begin(), errors_.end());
}

/// Takes the fit if it foretells the runs clearly better than their median.
void RecipeLengths::try_numbers() {
  const std::vector<PeakRun> runs(runs_.begin(), runs_.end());
  PeakFit fit(runs);
  if (fit.shapes().empty()) {
    return;
  }
  std::vector<double> errors = fit.errors();
  for (std::size_t i = 0; i < errors.size(); ++i) {
    if (std::abs(errors[i]) > kCutOff) {
      const double at = fit.at(runs[i].numbers).peak;
      errors[i] = at > 0 ? std::log(runs[i].peak / at) : errors[i];
    }
  }
  // Relative errors are least for a fit that lies low: the middle of them puts that right.
  const double middle = median_of(errors);
  for (double& error : errors) {
    error -= middle;
  }
  if (mean_size(errors) < kWorthwhile * mean_size(errors_)) {
    fit_.emplace(std::move(fit));
    middle_ = middle;
    errors_ = std::move(errors);
  }
}

bool RecipeLengths::has_moved() {
  const bool moved =
      told_.empty() || std::any_of(told_.begin(), told_.end(), [this](const auto& before) {
        return std::abs(guess(before.first).middle - before.second) > kMaterial;
      });
  if (moved) {
    told_.clear();
    for (auto run = runs_.rbegin(); run != runs_.rend() && told_.size() < kProbes; ++run) {
      told_.emplace_back(run->numbers, guess(run->numbers).middle);
    }
  }
  return moved;
}

}  // namespace berth
