#include "train/curve.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "sim/canvas.h"

namespace berth {
namespace {

constexpr int kWidth = 720;
constexpr int kHeight = 280;
constexpr double kLeft = 56;
constexpr double kRight = 16;
constexpr double kTop = 28;
constexpr double kBottom = 36;
constexpr Colour3 kGrid{225, 225, 225};
constexpr Colour3 kLine{31, 119, 180};
constexpr Colour3 kUsual{120, 120, 120};

double highest(const Curve& curve) {
  double most = 1;
  for (const CurvePoint& point : curve) {
    most = std::max(most, std::min(point.course_cost, 2.0));  // a bad start hides nothing else
  }
  return most;
}

}  // namespace

std::string curve_csv(const Curve& curve) {
  std::string text = "generation,steps,batch_cost,course_cost\n";
  for (const CurvePoint& point : curve) {
    text += fmt::format("{},{},{:.6g},{:.6g}\n", point.generation, point.steps, point.batch_cost,
                        point.course_cost);
  }
  return text;
}

std::string curve_svg(const Curve& curve) {
  const std::unique_ptr<Canvas> canvas = make_svg_canvas(kWidth, kHeight);
  const double most = highest(curve);
  const double steps =
      curve.empty() ? 1 : std::max<double>(static_cast<double>(curve.back().steps), 1);
  const auto at = [&](double when, double cost) {
    return Point{kLeft + (kWidth - kLeft - kRight) * when / steps,
                 kTop + (kHeight - kTop - kBottom) * (1 - std::min(cost, most) / most)};
  };
  for (int i = 0; i <= 4; ++i) {
    const double cost = most * i / 4;
    canvas->path({at(0, cost), at(steps, cost)}, kGrid);
    const Point left = at(0, cost);
    canvas->text({left.x - 6, left.y + 4}, fmt::format("{:.2f}", cost), Anchor::End);
    const Point below = at(steps * i / 4, 0);
    canvas->text({below.x, below.y + 16}, fmt::format("{:.1f}M", steps * i / 4e6),
                 i == 0   ? Anchor::Start
                 : i == 4 ? Anchor::End
                          : Anchor::Middle);
  }
  canvas->path({at(0, 1), at(steps, 1)}, kUsual);
  canvas->text({kLeft, 16}, "cost of a schedule, as a part of the usual policy's (grey)",
               Anchor::Start);
  canvas->text({kWidth - kRight, kHeight - 4.0}, "decisions", Anchor::End);
  std::vector<Point> points;
  for (const CurvePoint& point : curve) {
    points.push_back(at(static_cast<double>(point.steps), point.course_cost));
  }
  canvas->path(points, kLine);
  return canvas->finish();
}

std::string curve_bars(const Curve& curve, std::size_t width) {
  constexpr std::array<std::string_view, 8> kBars = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  const double most = highest(curve);
  const std::size_t count = std::min(width, curve.size());
  std::string bars;
  for (std::size_t i = 0; i < count; ++i) {
    const double cost = curve[(i + 1) * curve.size() / count - 1].course_cost;
    const double height = std::clamp(cost / most, 0.0, 1.0) * static_cast<double>(kBars.size() - 1);
    bars += kBars[static_cast<std::size_t>(height + 0.5)];
  }
  return bars;
}

}  // namespace berth
