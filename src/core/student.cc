#include "core/student.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <utility>

namespace berth {
namespace {

/// From here on a t variable is as good as normal.
constexpr int kMostFreedom = 200;

/// The probability of a value between -t and t: the finite sums for whole degrees of freedom
/// (Abramowitz and Stegun, 26.7.3 and 26.7.4).
double within(double t, int freedom) {
  const double angle = std::atan(t / std::sqrt(freedom));
  const double cosine = std::cos(angle);
  const bool odd = freedom % 2 == 1;
  double term = odd ? cosine : 1;
  double sum = freedom == 1 ? 0 : term;
  for (int i = odd ? 3 : 2; i <= freedom - 2; i += 2) {
    term *= cosine * cosine * (i - 1) / i;
    sum += term;
  }
  sum *= std::sin(angle);
  return odd ? 2 / std::numbers::pi * (angle + sum) : sum;
}

double find_upper(double risk, int freedom) {
  double low = 0;
  double high = 1;
  while (within(high, freedom) < 1 - 2 * risk && high < 1e9) {
    high *= 2;
  }
  constexpr int kHalvings = 40;
  for (int i = 0; i < kHalvings; ++i) {
    const double middle = (low + high) / 2;
    (within(middle, freedom) < 1 - 2 * risk ? low : high) = middle;
  }
  return high;
}

}  // namespace

double student_upper(double risk, int freedom) {
  freedom = std::clamp(freedom, 1, kMostFreedom);
  // A value takes thousands of operations, and the end of each job asks for the same few.
  thread_local std::map<std::pair<double, int>, double> known;
  const auto [value, is_new] = known.try_emplace({risk, freedom});
  if (is_new) {
    value->second = find_upper(risk, freedom);
  }
  return value->second;
}

}  // namespace berth
