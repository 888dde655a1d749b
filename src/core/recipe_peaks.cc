#include "core/recipe_peaks.h"

#include <algorithm>
#include <cmath>

#include "core/student.h"

namespace berth {
namespace {

constexpr std::size_t kMostCases = 1000;
constexpr std::size_t kMostPeaks = 20;  // of a case
/// What the model is fitted to: enough to see one in a hundred.
constexpr std::size_t kMostRuns = 120;
constexpr std::size_t kMostRunsOfACase = 3;

/// Runs with the very same numbers are taken to vary by this much, which counts as much as this
/// many runs.
constexpr double kUsualRepeatSpread = 0.018;
constexpr int kUsualRepeats = 4;
constexpr double kMargin = 1.1;
/// Claims are rounded up to this, so that jobs of about the same size are one kind to the queue.
constexpr Bytes kStep = mebibytes(64);

Bytes rounded_up(Bytes size) {
  return Bytes{(size.count + kStep.count - 1) / kStep.count * kStep.count};
}

double logarithm(Bytes size) { return std::log(static_cast<double>(size.count)); }

/// The mean of the logarithms, and the sum of their squared distances from it.
struct Spread {
  double middle = 0;
  double squares = 0;

  explicit Spread(const std::deque<Bytes>& peaks) {
    for (const Bytes peak : peaks) {
      middle += logarithm(peak) / static_cast<double>(peaks.size());
    }
    for (const Bytes peak : peaks) {
      squares += (logarithm(peak) - middle) * (logarithm(peak) - middle);
    }
  }
};

}  // namespace

/// The 95th percentile of the newest peaks.
std::optional<Bytes> RecipePeaks::Case::highest() const {
  if (peaks.empty()) {
    return std::nullopt;
  }
  std::vector<Bytes> sorted(peaks.begin(), peaks.end());
  std::sort(sorted.begin(), sorted.end());
  return sorted[(sorted.size() * 95 + 99) / 100 - 1];
}

Bytes RecipePeaks::round_up(double size) {
  return rounded_up(Bytes{static_cast<std::int64_t>(size)});
}

bool RecipePeaks::usable(const Numbers& numbers) const {
  return numbers.size() == width_ && std::all_of(numbers.begin(), numbers.end(), [](double number) {
           return std::isfinite(number) && number >= 0;
         });
}

Bytes RecipePeaks::claim_of(const Case& known) const {
  Bytes claim = rounded_up(known.at_least);
  if (const std::optional<Bytes> highest = known.highest()) {
    const double repeats = static_cast<double>(known.peaks.size());
    const double margin = repeat_reach_ * repeat_spread_ * std::sqrt(1 + 1 / repeats);
    claim = std::max({claim, round_up(static_cast<double>(highest->count) * kMargin),
                      round_up(std::exp(Spread(known.peaks).middle + margin))});
  }
  return claim;
}

PeakOutlook RecipePeaks::outlook(const Numbers& numbers) const {
  if (!usable(numbers) || !model_) {
    return {std::nullopt, 1, model_runs_};
  }
  PeakEstimate estimate = model_->at(numbers);
  if (!estimate.upper && groups_) {
    estimate = groups_->at(numbers);
  }
  const auto same = cases_.find(numbers);
  if (same == cases_.end()) {
    return {estimate.upper ? std::optional(round_up(*estimate.upper)) : std::nullopt,
            estimate.more_runs, model_runs_};
  }
  // Nothing tells better than the same job, but all runs together know better how peaks vary.
  const Bytes own = claim_of(same->second);
  const Bytes least = std::max(
      round_up(static_cast<double>(same->second.highest().value_or(Bytes{}).count) * kMargin),
      rounded_up(same->second.at_least));
  const Bytes shared = estimate.upper ? round_up(*estimate.upper) : own;
  return {shared >= least ? std::min(own, shared) : own, 0, model_runs_};
}

std::optional<std::size_t> RecipePeaks::grouped_by() const {
  return groups_ ? std::optional(groups_->place()) : std::nullopt;
}

RecipePeaks::Case& RecipePeaks::case_of(const Numbers& numbers) {
  const auto [found, added] = cases_.try_emplace(numbers);
  Case& known = found->second;
  known.last = ++runs_;
  if (added && cases_.size() > kMostCases) {
    cases_.erase(std::min_element(cases_.begin(), cases_.end(), [](const auto& a, const auto& b) {
      return a.second.last < b.second.last;
    }));
  }
  return known;
}

std::vector<PeakRun> RecipePeaks::newest_runs() const {
  std::vector<const std::pair<const Numbers, Case>*> order;
  for (const auto& known : cases_) {
    order.push_back(&known);
  }
  std::sort(order.begin(), order.end(),
            [](const auto* a, const auto* b) { return a->second.last > b->second.last; });
  std::vector<PeakRun> runs;
  for (const auto* known : order) {
    const Case& one = known->second;
    const auto add = [&](Bytes peak) {
      if (runs.size() < kMostRuns) {
        runs.push_back({known->first, static_cast<double>(peak.count), one.passed});
      }
    };
    if (one.at_least > Bytes{}) {
      add(one.at_least);
    }
    for (std::size_t i = 0; i < std::min(one.peaks.size(), kMostRunsOfACase); ++i) {
      add(one.peaks[one.peaks.size() - 1 - i]);
    }
  }
  return runs;
}

void RecipePeaks::measure_repeats() {
  double squares = kUsualRepeats * kUsualRepeatSpread * kUsualRepeatSpread;
  int freedom = kUsualRepeats;
  for (const auto& [numbers, known] : cases_) {
    if (known.peaks.size() > 1) {
      squares += Spread(known.peaks).squares;
      freedom += static_cast<int>(known.peaks.size()) - 1;
    }
  }
  repeat_spread_ = std::sqrt(squares / freedom);
  repeat_reach_ = student_upper(risk_, freedom);
}

void RecipePeaks::fit() {
  const std::vector<PeakRun> runs = newest_runs();
  model_ = std::make_shared<const PeakModel>(runs, risk_);
  groups_ = PeakGroups::find(runs, risk_);
  model_runs_ = runs.size();
  new_runs_ = 0;
  measure_repeats();
}

template <class Change>
bool RecipePeaks::take_in(const Numbers& numbers, Bytes seen, Change change) {
  if (!usable(numbers) || seen <= Bytes{}) {
    return false;
  }
  const std::optional<Bytes> before = outlook(numbers).claim;
  const bool repeat = cases_.contains(numbers);
  Case& known = case_of(numbers);
  // A good end after one that ran out of memory has been given more.
  known.passed = (before && seen > *before) || known.at_least > Bytes{};
  change(known);
  if (++new_runs_; known.passed || !before || new_runs_ * 10 >= model_runs_) {
    fit();
  }
  // A new model may change all claims, unless there is one case only: the claims of other numbers
  // then stay unknown. Without one, only waiting jobs with these very numbers can have new claims.
  if (new_runs_ == 0 && cases_.size() > 1) {
    return true;
  }
  return (repeat || !before) && outlook(numbers).claim != before;
}

bool RecipePeaks::learn(const Numbers& numbers, Bytes peak) {
  return take_in(numbers, peak, [&](Case& known) {
    known.at_least = Bytes{};
    known.peaks.push_back(peak);
    if (known.peaks.size() > kMostPeaks) {
      known.peaks.pop_front();
    }
  });
}

bool RecipePeaks::learn_at_least(const Numbers& numbers, Bytes memory) {
  return take_in(numbers, memory,
                 [&](Case& known) { known.at_least = std::max(known.at_least, memory); });
}

}  // namespace berth
