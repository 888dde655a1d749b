// Ranks: the candidates of one decision side by side, what is seen of each, and how a model ranks
// them. Two are ranked at once, each to the same bit as rank_by() does.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "rl/model.h"

namespace berth {

inline constexpr std::size_t kMostCandidates = 128;

class Ranks {
 public:
  explicit Ranks(const Model& model);

  /// What is seen of candidate `i`.
  void see(std::size_t i, const RankedJob& job, const Momentary& moment) {
    const Sight glance = glance_at(job, moment);
    for (std::size_t column = 0; column < kSights; ++column) {
      glances_[column][i] = glance[column];
    }
  }
  /// Ranks the first `count` of them. Where some ranks are not numbers, none is believed, and the
  /// candidates go by their places.
  void rank(std::size_t count, const Rest& rest);
  bool are_broken() const { return broken_; }

  // From then on:

  /// The one with the smallest rank, the first of equal ones; nothing: all were dropped.
  std::optional<std::size_t> best() const;
  void drop(std::size_t i);
  bool dropped(std::size_t i) const;
  /// It turned out not to fit.
  void rank_without_room(std::size_t i, const Rest& rest);

  double operator[](std::size_t i) const { return ranks_[i]; }

 private:
  using Column = std::array<double, kMostCandidates>;

  Lanes rank_two(std::size_t first, const Rest& rest) const;

  std::size_t hidden_;
  std::vector<Lanes> weights_;  // each in all lanes
  std::size_t count_ = 0;
  bool broken_ = false;
  alignas(Lanes) std::array<Column, kSights> glances_{};
  alignas(Lanes) Column ranks_{};
};

}  // namespace berth
