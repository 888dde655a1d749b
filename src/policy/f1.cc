// F1 of Carastan-Santos and de Camargo (SC '17), found by regression over simulated schedules:
// small is log10(length) × GPUs + 870 × log10(submission time), both in seconds. Short, small and
// early jobs go first, and the weight of the submission time keeps anybody from starving. The
// submission time counts from the first job, or from the beginning of a trace: counted from 1970,
// hours would make no difference.
#include <cmath>

#include "policy/in_order.h"

namespace berth {
namespace {

/// Ranks are whole numbers: this many of them to one of F1. 1e14 is finer than a double resolves.
constexpr double kScale = 1e14;

double log_of_seconds(Duration length) {
  const double seconds = to_seconds(length);
  return std::log10(seconds > 0 ? seconds : 0.1);
}

Rank rank(const Job& job, const Needs& needs, Duration after) {
  const double f1 =
      log_of_seconds(job.expected) * std::max(needs.gpus, 1U) + 870 * log_of_seconds(after);
  return static_cast<Rank>(std::min(f1, 9e4) * kScale);
}

}  // namespace

const Order kF1Order{"f1", rank, true};

}  // namespace berth
