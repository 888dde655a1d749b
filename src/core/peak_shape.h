// Shapes: the forms in which a job's memory may depend on its numbers. A shape is a product of
// numbers ("batch x length"), a bend ("what of batch is beyond 64") or one over a number; a peak is
// modelled as a constant plus a few shapes with weights that are not negative. So each shape grows
// or falls with a number, and a peak between two others lies between them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace berth {

/// What one run showed: the numbers of its recipe, and the most memory that it used.
struct PeakRun {
  std::vector<double> numbers;
  double peak = 0;      // bytes, more than 0
  bool passed = false;  // this was more than it had claimed
};

struct PeakFactor {
  enum class Form : std::uint8_t { Number, Root, Inverse, Beyond };
  std::uint32_t place = 0;  // among the numbers
  Form form = Form::Number;
  double bend = 0;  // for Beyond

  bool falls() const { return form == Form::Inverse; }
};

struct PeakShape {
  std::vector<PeakFactor> factors;

  double at(std::span<const double> numbers) const;
};

/// The shapes that the runs can tell apart: those of one number each, for sums, or also products.
enum class ShapeChoice : std::uint8_t { Sums, Products };
std::vector<PeakShape> possible_shapes(std::span<const PeakRun> runs, ShapeChoice choice);

}  // namespace berth
