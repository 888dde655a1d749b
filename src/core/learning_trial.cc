#include "core/learning_trial.h"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "core/claim_book.h"

namespace berth {
namespace {

constexpr double kExactMargin = 1.1;
constexpr double kFixedMargin = 1.2;
/// Fewer lengths than these have no 5th percentile.
constexpr std::size_t kLeastLengths = 19;

double share(std::size_t part, std::size_t all) {
  return all == 0 ? 0 : static_cast<double>(part) / static_cast<double>(all);
}

/// The highest peaks by some key, and claims that are a fixed part above them.
template <class Key>
class HighestPeaks {
 public:
  explicit HighestPeaks(double margin) : margin_(margin) {}

  std::optional<Bytes> claim(const Key& key) const {
    const auto found = peaks_.find(key);
    if (found == peaks_.end()) {
      return std::nullopt;
    }
    return Bytes{static_cast<std::int64_t>(static_cast<double>(found->second.count) * margin_)};
  }
  void learn(const Key& key, Bytes peak) { peaks_[key] = std::max(peaks_[key], peak); }

 private:
  double margin_;
  std::map<Key, Bytes> peaks_;
};

void count_length(std::vector<double>& past, double seconds, LengthFigures& figures) {
  if (past.size() >= kLeastLengths) {
    const std::size_t tail = (past.size() + 1) / 20 - 1;
    ++figures.expected;
    figures.within += seconds >= past[tail] && seconds <= past[past.size() - 1 - tail] ? 1 : 0;
  }
  past.insert(std::upper_bound(past.begin(), past.end(), seconds), seconds);
}

}  // namespace

double ClaimFigures::share_claimed() const { return share(claimed, jobs); }
double ClaimFigures::share_out_of_memory() const { return share(out_of_memory, claimed); }
double ClaimFigures::share_wasted() const {
  return claims.count == 0 ? 0
                           : static_cast<double>(wasted.count) / static_cast<double>(claims.count);
}

void ClaimFigures::count(std::optional<Bytes> claim, Bytes peak) {
  ++jobs;
  if (claim) {
    ++claimed;
    out_of_memory += peak > *claim ? 1 : 0;
    claims += *claim;
    wasted += std::max(Bytes{}, *claim - peak);
  }
}

LearningTrial try_learning(std::span<const TrialJob> jobs, double risk) {
  LearningTrial trial;
  ClaimBook book(risk);
  HighestPeaks<std::pair<std::string, std::vector<double>>> exact(kExactMargin);
  HighestPeaks<std::string> fixed(kFixedMargin);
  std::map<std::string, std::vector<double>> lengths;  // ascending, by recipe
  for (const TrialJob& job : jobs) {
    const std::pair same(job.recipe.key, job.recipe.numbers);
    const std::optional<Bytes> claim = book.claim(job.recipe);
    trial.learned.count(claim, job.peak);
    trial.exact.count(exact.claim(same), job.peak);
    trial.margin.count(fixed.claim(job.recipe.key), job.peak);
    if (claim && job.peak > *claim) {
      book.learn_at_least(job.recipe, job.peak);  // before it runs again, and ends well
    }
    book.learn(job.recipe, job.peak);
    exact.learn(same, job.peak);
    fixed.learn(job.recipe.key, job.peak);
    if (job.seconds) {
      trial.lengths = trial.lengths.value_or(LengthFigures{});
      count_length(lengths[job.recipe.key], *job.seconds, *trial.lengths);
    }
  }
  return trial;
}

}  // namespace berth
