#include "core/peak_groups.h"

#include <cmath>
#include <vector>

namespace berth {
namespace {

/// Runs of a group that differ more than this, relatively, are not alike.
constexpr double kMostSpread = 0.1;

using Groups = std::map<double, std::vector<PeakRun>>;

Groups grouped(std::span<const PeakRun> runs, std::size_t place) {
  Groups groups;
  for (const PeakRun& run : runs) {
    groups[run.numbers[place]].push_back(run);
  }
  return groups;
}

double squares_of(std::span<const PeakRun> group) {
  double middle = 0;
  for (const PeakRun& run : group) {
    middle += std::log(run.peak) / static_cast<double>(group.size());
  }
  double squares = 0;
  for (const PeakRun& run : group) {
    squares += std::pow(std::log(run.peak) - middle, 2);
  }
  return squares;
}

/// The spread within the groups; nothing when most runs have no other to be held against.
std::optional<double> spread_within(const Groups& groups, std::size_t runs) {
  double squares = 0;
  std::size_t compared = 0;
  std::size_t compared_groups = 0;
  for (const auto& [value, group] : groups) {
    if (group.size() > 1) {
      squares += squares_of(group);
      compared += group.size();
      ++compared_groups;
    }
  }
  if (2 * compared <= runs) {
    return std::nullopt;
  }
  return std::sqrt(squares / static_cast<double>(compared - compared_groups));
}

}  // namespace

std::optional<PeakGroups> PeakGroups::find(std::span<const PeakRun> runs, double risk) {
  std::optional<PeakGroups> best;
  Groups best_groups;
  double least = kMostSpread;
  for (std::size_t place = 0; place < runs[0].numbers.size(); ++place) {
    Groups groups = grouped(runs, place);
    const std::optional<double> spread = spread_within(groups, runs.size());
    if (groups.size() > 1 && spread && *spread < least) {
      least = *spread;
      best = PeakGroups(place);
      best_groups = std::move(groups);
    }
  }
  for (const auto& [value, group] : best_groups) {
    best->models_.try_emplace(value, group, risk);
  }
  return best;
}

PeakEstimate PeakGroups::at(std::span<const double> numbers) const {
  const auto found = models_.find(numbers[place_]);
  return found == models_.end() ? PeakEstimate{std::nullopt, 1} : found->second.at(numbers);
}

}  // namespace berth
