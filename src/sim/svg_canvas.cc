#include <fmt/format.h>

#include "sim/canvas.h"
#include "sim/escape.h"

namespace berth {
namespace {

std::string hex(Colour3 colour) {
  return fmt::format("#{:02x}{:02x}{:02x}", colour.red, colour.green, colour.blue);
}

class SvgCanvas final : public Canvas {
 public:
  SvgCanvas(int width, int height)
      : text_(fmt::format("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" "
                          "width=\"{0}\" height=\"{1}\" font-family=\"sans-serif\" "
                          "font-size=\"11\">\n<rect width=\"{0}\" height=\"{1}\" fill=\"#fff\"/>\n",
                          width, height)) {}

  void rect(Point corner, double width, double height, Colour3 fill,
            std::string_view title) override {
    text_ += fmt::format(
        "<rect x=\"{:.2f}\" y=\"{:.2f}\" width=\"{:.2f}\" height=\"{:.2f}\" "
        "fill=\"{}\"",
        corner.x, corner.y, width, height, hex(fill));
    text_ += title.empty() ? "/>\n" : fmt::format("><title>{}</title></rect>\n", escape(title));
  }

  void path(const std::vector<Point>& points, Colour3 stroke) override {
    text_ += fmt::format("<polyline fill=\"none\" stroke=\"{}\" stroke-width=\"1.2\" points=\"",
                         hex(stroke));
    for (const Point& point : points) {
      text_ += fmt::format("{:.1f},{:.1f} ", point.x, point.y);
    }
    text_ += "\"/>\n";
  }

  void text(Point at, std::string_view words, Anchor anchor) override {
    constexpr const char* kAnchors[] = {"start", "middle", "end"};
    text_ +=
        fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\" fill=\"#333\">{}</text>\n",
                    at.x, at.y, kAnchors[static_cast<int>(anchor)], escape(words));
  }

  std::string finish() override { return text_ + "</svg>\n"; }

 private:
  std::string text_;
};

}  // namespace

std::unique_ptr<Canvas> make_svg_canvas(int width, int height) {
  return std::make_unique<SvgCanvas>(width, height);
}

}  // namespace berth
