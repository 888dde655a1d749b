// The learning curve of a training run: as a table for other programs, as a picture, and as one
// line for the terminal.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace berth {

/// One point of a learning curve. Costs are parts of what the usual policy costs.
struct CurvePoint {
  std::uint64_t generation = 0;
  std::uint64_t steps = 0;
  double batch_cost = 0;   // over the lessons of this generation
  double course_cost = 0;  // over all lessons
};
using Curve = std::vector<CurvePoint>;

std::string curve_csv(const Curve& curve);
std::string curve_svg(const Curve& curve);
/// The cost over all lessons as bars, the newest last; at most `width` of them.
std::string curve_bars(const Curve& curve, std::size_t width);

}  // namespace berth
