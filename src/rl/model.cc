#include "rl/model.h"

#include <array>

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
  return rank_of<double>(model.weights.data(), model.hidden, sight, rest);
}

}  // namespace berth
