#include "core/claim_book.h"

#include <algorithm>
#include <set>

namespace berth {
namespace {

constexpr std::size_t kMostCases = 1000;
constexpr std::size_t kMostPeaks = 20;
/// The newest, to see what matters: each is held against each other when one joins.
constexpr std::size_t kCompared = 40;
/// Of jobs that differ in the same numbers, how many pairs must have used the same for these not to
/// matter. A few always do by chance.
constexpr double kNearlyAll = 0.9;

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

/// Places beyond the 64th are taken to be one.
ClaimBook::Places ClaimBook::difference(const Numbers& a, const Numbers& b) {
  Places places = 0;
  for (std::size_t i = 0; i < a.size() && i < b.size(); ++i) {
    places |= a[i] != b[i] ? Places{1} << std::min<std::size_t>(i, 63) : 0;
  }
  return places;
}

std::optional<Bytes> ClaimBook::Known::claim(const Numbers& numbers) const {
  // Nothing tells better than the same job.
  if (const auto same = cases.find(numbers); same != cases.end()) {
    return same->second.claim();
  }
  std::optional<Bytes> highest;
  for (const auto& [others, known] : cases) {
    if ((difference(others, numbers) & matters) == 0) {
      highest = std::max(highest.value_or(Bytes{}), known.claim());
    }
  }
  return highest;
}

ClaimBook::Case& ClaimBook::Known::find(const Numbers& numbers) {
  const auto [found, added] = cases.try_emplace(numbers);
  if (added) {
    order.push_back(numbers);
    if (order.size() > kMostCases) {
      cases.erase(order.front());
      order.pop_front();
    }
  }
  return found->second;
}

void ClaimBook::Known::find_what_matters() {
  struct Pair {
    Places differ;
    bool same;
  };
  std::vector<Pair> pairs;
  std::set<Places> kinds;
  const std::size_t first = order.size() - std::min(order.size(), kCompared);
  for (std::size_t i = first; i < order.size(); ++i) {
    for (std::size_t j = i + 1; j < order.size(); ++j) {
      const std::deque<Bytes>& one = cases.at(order[i]).peaks;
      const std::deque<Bytes>& other = cases.at(order[j]).peaks;
      if (!one.empty() && !other.empty()) {
        pairs.push_back({difference(order[i], order[j]), about_equal(one.back(), other.back())});
        kinds.insert(pairs.back().differ);
      }
    }
  }
  matters = ~Places{0};
  for (const Places kind : kinds) {
    std::size_t all = 0;
    std::size_t same = 0;
    for (const Pair& pair : pairs) {
      if ((pair.differ & ~kind) == 0) {
        ++all;
        same += pair.same ? 1 : 0;
      }
    }
    if (static_cast<double>(same) >= kNearlyAll * static_cast<double>(all)) {
      matters &= ~kind;
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
  const std::optional<Bytes> before = known.claim(recipe.numbers);
  const Places mattered = known.matters;
  Case& one = known.find(recipe.numbers);
  const Bytes last = one.peaks.empty() ? Bytes{} : one.peaks.back();
  change(one);
  if (!one.peaks.empty() && one.peaks.back() != last) {
    known.find_what_matters();
  }
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
