#include "rl/model.h"

#include <array>
#include <cmath>

namespace berth {
namespace {

constexpr std::array<std::string_view, 3> kStarts = {"hold", "backfill", "pass"};

}  // namespace

std::string_view starts_name(Starts starts) { return kStarts[static_cast<std::size_t>(starts)]; }

std::optional<Starts> parse_starts(std::string_view name) {
  for (std::size_t i = 0; i < kStarts.size(); ++i) {
    if (kStarts[i] == name) {
      return static_cast<Starts>(i);
    }
  }
  return std::nullopt;
}

double rank_by(const Model& model, const Sight& sight, const Rest& rest) {
  const Terms terms = terms_of(sight, rest);
  const float* weight = model.weights.data();
  double rank = 0;
  for (const double term : terms) {
    rank += *weight++ * term;
  }
  if (model.hidden == 0) {
    return rank;
  }
  const Inputs inputs = inputs_of(sight, rest);
  const float* out = weight + model.hidden * (kInputs + 1);
  for (std::size_t unit = 0; unit < model.hidden; ++unit) {
    double sum = 0;
    for (const double input : inputs) {
      sum += *weight++ * input;
    }
    sum += *weight++;
    rank += out[unit] * std::tanh(sum);
  }
  return rank;
}

}  // namespace berth
