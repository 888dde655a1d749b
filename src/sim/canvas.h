// Canvas: the surface that charts are drawn on, as SVG text or as the pixels of a PNG file.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace berth {

struct Colour3 {
  std::uint8_t red = 0;
  std::uint8_t green = 0;
  std::uint8_t blue = 0;
};

struct Point {
  double x = 0;
  double y = 0;
};

enum class Anchor : std::uint8_t { Start, Middle, End };

class Canvas {
 public:
  virtual ~Canvas() = default;

  /// `title` is shown when the pointer rests on the rectangle, if the format allows it.
  virtual void rect(Point corner, double width, double height, Colour3 fill,
                    std::string_view title) = 0;
  virtual void path(const std::vector<Point>& points, Colour3 stroke) = 0;
  /// One line of small text whose baseline is at `at`.
  virtual void text(Point at, std::string_view words, Anchor anchor) = 0;

  /// The whole drawing.
  virtual std::string finish() = 0;
};

std::unique_ptr<Canvas> make_svg_canvas(int width, int height);
std::unique_ptr<Canvas> make_png_canvas(int width, int height);

}  // namespace berth
