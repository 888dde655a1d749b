// Model: the weights of a learned rank. The waiting job with the smallest rank is chosen next.
//
// A linear model is a weighted sum of terms (features.h). A network adds a small kernel: one hidden
// layer that looks at each job in the same way, whatever its place, together with a summary of the
// rest. So the order in which jobs are looked at means nothing, and neither does their number.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "rl/rank_of.h"

namespace berth {

inline constexpr std::size_t kMostHidden = 64;
inline constexpr Duration kMostGrace = std::chrono::hours(24 * 30);

/// What a model is and where it comes from, in words for people.
struct ModelOrigin {
  std::string name;      // how it is called in tables
  std::string workload;  // what it was trained on
  std::string reward;
  std::string trainer;
  std::string result;  // on what it was not trained on
  std::uint64_t seed = 0;
};

/// What happens when the job that is ranked first does not fit.
enum class Starts : std::uint8_t {
  Hold,      // devices are held for it
  Backfill,  // jobs go past it that do not delay it
  Pass,      // all that fit go past it, until it is due
};
/// `hold`, `backfill` or `pass`.
std::string_view starts_name(Starts starts);
std::optional<Starts> parse_starts(std::string_view name);

struct Model {
  std::size_t hidden = 0;      // units of the kernel; 0: the model is linear
  std::vector<float> weights;  // weights_of(hidden) of them: terms, then kernel
  Starts starts = Starts::Hold;
  /// Whether a job that shares a device goes where it leaves the least compute free. If not, the
  /// placement decides.
  bool tight = false;
  /// How long after the end of its window a job may be passed by others. No model can make it
  /// longer than kMostGrace.
  Duration grace = std::chrono::hours(24 * 10);
  ModelOrigin origin;

  bool is_linear() const { return hidden == 0; }
};

/// The rank of one job; rl/ranks.h ranks many.
double rank_by(const Model& model, const Sight& sight, const Rest& rest);

}  // namespace berth
