#include "core/claim_book.h"

#include <algorithm>

namespace berth {
namespace {

/// What is kept: enough to see what matters, little enough to look through at each end of a job.
constexpr std::size_t kMostCases = 48;
constexpr std::size_t kMostPeaks = 20;

/// Peaks of the same work vary: allocators round, and libraries pick other kernels.
constexpr double kMargin = 1.1;
constexpr double kSame = 1.05;
/// Claims are rounded up to this, so that jobs of about the same size are one kind to the queue.
constexpr Bytes kStep = mebibytes(64);

Bytes round_up(Bytes size) {
  return Bytes{(size.count + kStep.count - 1) / kStep.count * kStep.count};
}

Bytes with_margin(Bytes size) {
  return round_up(Bytes{static_cast<std::int64_t>(static_cast<double>(size.count) * kMargin)});
}

bool about_equal(Bytes a, Bytes b) {
  const auto [less, more] = std::minmax(a.count, b.count);
  return static_cast<double>(more) <= static_cast<double>(less) * kSame;
}

}  // namespace

/// The 95th percentile of the newest peaks, with a margin.
Bytes ClaimBook::Case::claim() const {
  Bytes highest;
  if (!peaks.empty()) {
    std::vector<Bytes> sorted(peaks.begin(), peaks.end());
    std::sort(sorted.begin(), sorted.end());
    const std::size_t rank = (sorted.size() * 95 + 99) / 100;
    highest = with_margin(sorted[rank - 1]);
  }
  return std::max(highest, round_up(at_least));
}

std::optional<Bytes> ClaimBook::Known::claim(const std::vector<double>& numbers) const {
  std::optional<Bytes> highest;
  for (const Case& known : cases) {
    bool agrees = true;
    for (std::size_t i = 0; i < numbers.size() && agrees; ++i) {
      agrees = !matters[i] || known.numbers[i] == numbers[i];
    }
    if (agrees) {
      highest = std::max(highest.value_or(Bytes{}), known.claim());
    }
    if (known.numbers == numbers) {
      return known.claim();  // nothing tells better than the same job
    }
  }
  return highest;
}

ClaimBook::Case& ClaimBook::Known::find(const std::vector<double>& numbers) {
  const auto found = std::find_if(cases.begin(), cases.end(),
                                  [&](const Case& known) { return known.numbers == numbers; });
  if (found != cases.end()) {
    return *found;
  }
  if (cases.size() == kMostCases) {
    cases.erase(cases.begin());
  }
  return cases.emplace_back(Case{numbers, {}, {}});
}

void ClaimBook::Known::find_what_matters() {
  std::fill(matters.begin(), matters.end(), true);
  for (std::size_t i = 0; i < cases.size(); ++i) {
    for (std::size_t j = i + 1; j < cases.size(); ++j) {
      if (cases[i].peaks.empty() || cases[j].peaks.empty() ||
          !about_equal(cases[i].peaks.back(), cases[j].peaks.back())) {
        continue;
      }
      for (std::size_t place = 0; place < matters.size(); ++place) {
        if (cases[i].numbers[place] != cases[j].numbers[place]) {
          matters[place] = false;
        }
      }
    }
  }
}

std::optional<Bytes> ClaimBook::claim(const Recipe& recipe) const {
  const auto found = recipes_.find(recipe.key);
  return found == recipes_.end() ? std::nullopt : found->second.claim(recipe.numbers);
}

template <class Change>
bool ClaimBook::change(const Recipe& recipe, Change change) {
  // Commands whose texts differ in more than numbers would otherwise be remembered without end.
  constexpr std::size_t kMostRecipes = 20'000;
  if (recipes_.size() >= kMostRecipes && !recipes_.contains(recipe.key)) {
    recipes_.clear();
  }
  Known& known = recipes_[recipe.key];
  known.matters.resize(recipe.numbers.size(), true);
  const std::optional<Bytes> before = known.claim(recipe.numbers);
  const std::vector<bool> mattered = known.matters;
  change(known.find(recipe.numbers));
  known.find_what_matters();
  return known.matters != mattered || known.claim(recipe.numbers) != before;
}

bool ClaimBook::learn(const Recipe& recipe, Bytes peak) {
  return change(recipe, [&](Case& known) {
    known.at_least = Bytes{};
    known.peaks.push_back(peak);
    if (known.peaks.size() > kMostPeaks) {
      known.peaks.pop_front();
    }
  });
}

bool ClaimBook::learn_at_least(const Recipe& recipe, Bytes memory) {
  return change(recipe, [&](Case& known) { known.at_least = std::max(known.at_least, memory); });
}

}  // namespace berth
