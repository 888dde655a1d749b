// Random distributions for workloads, the same on every machine.
#pragma once

#include <cmath>
#include <numbers>

#include "base/random.h"

namespace berth {

inline double exponential(Random& random, double mean) {
  return -mean * std::log1p(-random.unit());
}

inline double standard_normal(Random& random) {
  const double radius = std::sqrt(-2 * std::log1p(-random.unit()));
  return radius * std::cos(2 * std::numbers::pi * random.unit());
}

/// Marsaglia and Tsang's method; a `shape` below 1 uses a power of a uniform draw.
inline double gamma(Random& random, double shape, double scale) {
  if (shape < 1) {
    const double u = 1 - random.unit();
    return gamma(random, shape + 1, scale) * std::pow(u, 1 / shape);
  }
  const double d = shape - 1.0 / 3;
  const double c = 1 / std::sqrt(9 * d);
  for (;;) {
    const double x = standard_normal(random);
    const double v = std::pow(1 + c * x, 3);
    if (v <= 0) {
      continue;
    }
    const double u = 1 - random.unit();
    if (std::log(u) < x * x / 2 + d - d * v + d * std::log(v)) {
      return d * v * scale;
    }
  }
}

}  // namespace berth
