// How a model ranks: the one place that says so, for one job and for two at once (rl/lanes.h).
#pragma once

#include <array>
#include <cmath>
#include <utility>

#include "rl/features.h"

namespace berth {

inline double tanh_of(double x) { return std::tanh(x); }
inline Lanes tanh_of(const Lanes& x) { return Lanes{std::tanh(x[0]), std::tanh(x[1])}; }

/// The terms; for each hidden unit its inputs and its offset; then what each unit adds.
constexpr std::size_t weights_of(std::size_t hidden) { return kTerms + hidden * (kInputs + 2); }

/// The sum of weights times terms, as four sums: one would wait for each addition.
template <class Number, class Weight, std::size_t... kTerm>
Number weighted(const Weight* weight, const TermsOf<Number>& terms, std::index_sequence<kTerm...>) {
  std::array<Number, 4> sums{};
  ((sums[kTerm % 4] += weight[kTerm] * terms[kTerm]), ...);
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

/// `weight`: the first of weights_of(hidden).
template <class Number, class Weight>
[[gnu::always_inline]] inline Number rank_of(const Weight* weight, std::size_t hidden,
                                             const SightOf<Number>& sight, const Rest& rest) {
  Number rank =
      weighted<Number>(weight, terms_of<Number>(sight, rest), std::make_index_sequence<kTerms>());
  weight += kTerms;
  if (hidden == 0) {
    return rank;
  }
  const std::array<double, kOthers> others = others_of(rest);
  const Weight* out = weight + hidden * (kInputs + 1);
  for (std::size_t unit = 0; unit < hidden; ++unit) {
    Number sum{};
    for (const Number& input : sight) {
      sum += *weight++ * input;
    }
    for (const double other : others) {
      sum += *weight++ * other;
    }
    sum += *weight++;
    rank += out[unit] * tanh_of(sum);
  }
  return rank;
}

}  // namespace berth
