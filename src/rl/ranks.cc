#include "rl/ranks.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

namespace berth {
namespace {

constexpr double kDropped = std::numeric_limits<double>::infinity();

static_assert(kMostCandidates % kLanes == 0);

Lanes load(const double* from) {
  Lanes lanes;
  std::memcpy(&lanes, from, sizeof lanes);
  return lanes;
}

void store(const Lanes& lanes, double* to) { std::memcpy(to, &lanes, sizeof lanes); }

}  // namespace

Ranks::Ranks(const Model& model) : hidden_(model.hidden) {
  for (const float weight : model.weights) {
    weights_.push_back(Lanes{} + static_cast<double>(weight));
  }
}

Lanes Ranks::rank_two(std::size_t first, const Rest& rest) const {
  SightOf<Lanes> glance;
  for (std::size_t column = 0; column < kSights; ++column) {
    glance[column] = load(&glances_[column][first]);
  }
  return rank_of<Lanes>(weights_.data(), hidden_, sight_of<Lanes>(glance, rest), rest);
}

void Ranks::rank(std::size_t count, const Rest& rest) {
  count_ = count;
  // Two loops, because the processor has many logarithms under way at once, and then many ranks.
  // Beyond an odd last one stands an old one.
  for (std::size_t i = 0; i < count; i += kLanes) {
    store(log_wait(load(&glances_[kWaitSight][i])), &glances_[kWaitSight][i]);
  }
  for (std::size_t i = 0; i < count; i += kLanes) {
    store(rank_two(i, rest), &ranks_[i]);
  }
  double nothing = 0;  // but not a number if one of them is none
  for (std::size_t i = 0; i < count; ++i) {
    nothing += ranks_[i] * 0;
  }
  broken_ = nothing != 0;
  if (broken_) {
    std::iota(ranks_.begin(), ranks_.begin() + static_cast<std::ptrdiff_t>(count), 0.0);
  }
}

std::optional<std::size_t> Ranks::best() const {
  double least = kDropped;
  std::size_t best = 0;
  for (std::size_t i = 0; i < count_; ++i) {
    if (ranks_[i] < least) {  // seldom
      least = ranks_[i];
      best = i;
    }
  }
  return least == kDropped ? std::nullopt : std::optional(best);
}

void Ranks::drop(std::size_t i) { ranks_[i] = kDropped; }

bool Ranks::dropped(std::size_t i) const { return ranks_[i] == kDropped; }

void Ranks::rank_without_room(std::size_t i, const Rest& rest) {
  if (broken_ || dropped(i)) {
    return;
  }
  glances_[kRoomSight][i] = 1;
  glances_[kSlackSight][i] = 0;
  glances_[kGapSight][i] = 0;
  ranks_[i] = rank_two(i - i % kLanes, rest)[i % kLanes];
}

}  // namespace berth
