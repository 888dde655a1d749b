#include "sim/charts.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/units.h"

namespace berth {
namespace {

constexpr double kLeft = 64;
constexpr double kRight = 12;
constexpr double kTop = 24;
constexpr double kBottom = 22;
constexpr int kWidth = 960;
constexpr int kLineHeight = 220;
constexpr double kLegendRow = 16;
constexpr std::size_t kMostRows = 128;
constexpr std::size_t kMostPoints = 900;
constexpr Colour3 kGrid{225, 225, 225};
constexpr Colour3 kAxis{120, 120, 120};
constexpr Colour3 kMany{150, 160, 175};

/// Where a time or value lies on the drawing.
struct Frame {
  Span span;
  double most = 1;
  double height = 0;
  double top = kTop;

  double x(Time when) const {
    const double length = std::max(to_seconds(span.to - span.from), 1e-9);
    return kLeft +
           (kWidth - kLeft - kRight) * std::clamp(to_seconds(when - span.from) / length, 0.0, 1.0);
  }
  double y(double value) const { return top + height * (1 - value / most); }
  double bottom() const { return top + height; }
};

void draw_time_axis(Canvas& canvas, const Frame& frame) {
  constexpr int kTicks = 6;
  for (int i = 0; i <= kTicks; ++i) {
    const Time when = frame.span.from + (frame.span.to - frame.span.from) / kTicks * i;
    const double x = frame.x(when);
    canvas.path({{x, frame.top}, {x, frame.bottom()}}, kGrid);
    canvas.text({x, frame.bottom() + 14}, format_duration(when - frame.span.from),
                i == 0        ? Anchor::Start
                : i == kTicks ? Anchor::End
                              : Anchor::Middle);
  }
  canvas.path({{kLeft, frame.bottom()}, {kWidth - kRight, frame.bottom()}}, kAxis);
}

/// One, two or five times a power of ten, at least `value`.
double round_up(double value) {
  if (!(value > 0)) {
    return 1;
  }
  const double power = std::pow(10, std::floor(std::log10(value)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= value) {
      return factor * power;
    }
  }
  return 10 * power;
}

std::string short_number(double value) {
  return value >= 1e6   ? fmt::format("{:.3g}M", value / 1e6)
         : value >= 1e4 ? fmt::format("{:.3g}k", value / 1e3)
                        : fmt::format("{:.4g}", value);
}

/// The usual colours, then lighter and then darker ones: as many lines as a chart can bear.
Colour3 line_colour(std::size_t n) {
  constexpr std::size_t kUsual = 8;
  const auto mixed = [&](std::uint8_t part) -> std::uint8_t {
    return n / kUsual % 3 == 0   ? part
           : n / kUsual % 3 == 1 ? static_cast<std::uint8_t>((part + 255) / 2)
                                 : static_cast<std::uint8_t>(part / 2);
  };
  const Colour3 usual = colour_of(n);
  return {mixed(usual.red), mixed(usual.green), mixed(usual.blue)};
}

/// Where each name of the legend begins: from `top` on, in as many rows as it takes.
std::vector<Point> lay_out_legend(const std::vector<std::string>& names, double top) {
  constexpr double kLetter = 7;
  constexpr double kGap = 26;
  std::vector<Point> places;
  Point at{kLeft, top};
  for (const std::string& name : names) {
    const double width = kGap + kLetter * static_cast<double>(name.size());
    if (at.x > kLeft && at.x + width > kWidth) {
      at = {kLeft, at.y + kLegendRow};
    }
    places.push_back(at);
    at.x += width;
  }
  return places;
}

void draw_legend(Canvas& canvas, const std::vector<std::string>& names,
                 const std::vector<Point>& places) {
  for (std::size_t i = 0; i < names.size(); ++i) {
    canvas.rect({places[i].x, places[i].y - 8}, 8, 8, line_colour(i), {});
    canvas.text({places[i].x + 12, places[i].y}, names[i], Anchor::Start);
  }
}

/// The names of jobs for the legend of a chart; none where there are too many of them.
std::vector<std::string> legend_of(const Workload& workload) {
  constexpr std::size_t kMostNames = 24;  // as many as line_colour() tells apart
  constexpr std::size_t kLongestName = 28;
  std::vector<std::string> names;
  if (workload.jobs.size() > kMostNames) {
    return names;
  }
  for (std::size_t i = 0; i < workload.jobs.size(); ++i) {
    std::string name = workload.names.empty() ? std::to_string(i + 1) : workload.names[i];
    names.push_back(name.size() > kLongestName ? name.substr(0, kLongestName) + "…" : name);
  }
  return names;
}

}  // namespace

Colour3 colour_of(std::size_t n) {
  // Apart in lightness too, so that they can be told apart without colours.
  constexpr std::array kColours = {
      Colour3{31, 119, 180}, Colour3{230, 126, 34}, Colour3{39, 140, 70},   Colour3{192, 57, 43},
      Colour3{125, 80, 170}, Colour3{110, 75, 60},  Colour3{215, 115, 190}, Colour3{23, 160, 175}};
  return kColours[n % kColours.size()];
}

std::string gantt_chart(const MakeCanvas& make, std::string_view title, const Workload& workload,
                        const Machine& machine, const SimRun& run, Span span, bool legend) {
  const std::size_t rows = std::min(machine.size(), kMostRows);
  const double row = rows <= 16 ? 18 : rows <= 48 ? 8 : 4;
  Frame frame{span, 1, row * static_cast<double>(rows)};
  const std::vector<std::string> names = legend ? legend_of(workload) : std::vector<std::string>{};
  const std::vector<Point> places =
      lay_out_legend(names, kTop + frame.height + kBottom + kLegendRow / 2);
  const std::unique_ptr<Canvas> canvas =
      make(kWidth, static_cast<int>(places.empty() ? kTop + frame.height + kBottom
                                                   : places.back().y + kLegendRow / 2));
  draw_time_axis(*canvas, frame);
  draw_legend(*canvas, names, places);
  canvas->text({kLeft, 15},
               rows < machine.size() ? fmt::format("{} (the first {} devices)", title, rows)
                                     : std::string(title),
               Anchor::Start);
  const std::size_t every = std::max<std::size_t>(1, static_cast<std::size_t>(std::ceil(14 / row)));
  for (std::size_t i = 0; i < rows; i += every) {
    canvas->text({kLeft - 6, kTop + row * static_cast<double>(i) + std::min(row, 13.0)},
                 machine[i].spec.name, Anchor::End);
  }
  std::vector<Stay> stays = run.timeline;
  std::sort(stays.begin(), stays.end(), [](const Stay& a, const Stay& b) {
    return std::tuple(a.device, a.from, a.job) < std::tuple(b.device, b.from, b.job);
  });
  // Jobs that share a device at a time are drawn below each other in its row.
  std::array<Time, 4> lanes{};
  for (std::size_t i = 0; i < stays.size();) {
    if (stays[i].device.value >= rows) {
      break;
    }
    Stay bar = stays[i];
    std::size_t next = i + 1;
    while (next < stays.size() && stays[next].device == bar.device &&
           frame.x(std::max(bar.to, stays[next].to)) - frame.x(bar.from) < 1.5) {
      bar.to = std::max(bar.to, stays[next].to);
      ++next;
    }
    const bool many = next - i > 1;
    if (i == 0 || stays[i - 1].device != bar.device) {
      lanes.fill(Time{});
    }
    auto lane = std::find_if(lanes.begin(), lanes.end(),
                             [&](Time taken_until) { return taken_until <= bar.from; });
    lane = lane == lanes.end() ? lanes.end() - 1 : lane;
    *lane = bar.to;
    const double lane_height = row / static_cast<double>(lanes.size());
    const double top = kTop + row * static_cast<double>(bar.device.value) +
                       static_cast<double>(lane - lanes.begin()) * lane_height;
    const SimJob& job = workload.jobs[bar.job];
    const bool shares = job.share != 0 || job.memory_mib != 0;
    canvas->rect(
        {frame.x(bar.from), top}, frame.x(bar.to) - frame.x(bar.from),
        (shares ? lane_height : row) * 0.9,
        many            ? kMany
        : names.empty() ? colour_of(bar.job)
                        : line_colour(bar.job),
        many ? fmt::format("{} jobs", next - i)
             : fmt::format(
                   "{} {}: {} to {}",
                   workload.names.empty() ? std::to_string(bar.job + 1) : workload.names[bar.job],
                   workload.owners[job.owner], format_duration(bar.from - span.from),
                   format_duration(bar.to - span.from)));
    i = next;
  }
  return canvas->finish();
}

std::string line_chart(const MakeCanvas& make, std::string_view title,
                       const std::vector<Line>& lines, Span span) {
  Frame frame{span, 0, kLineHeight - kTop - kBottom};
  for (const Line& line : lines) {
    for (const SeriesStep& step : line.series) {
      frame.most = std::max(frame.most, step.value);
    }
  }
  frame.most = round_up(frame.most);
  std::vector<std::string> names;
  for (const Line& line : lines) {
    names.push_back(line.name);
  }
  const std::vector<Point> legend = lay_out_legend(names, kTop + kLegendRow / 2);
  frame.top = legend.empty() ? kTop : legend.back().y + kLegendRow;
  const std::unique_ptr<Canvas> canvas = make(kWidth, static_cast<int>(frame.bottom() + kBottom));
  draw_time_axis(*canvas, frame);
  for (const double part : {0.0, 0.5, 1.0}) {
    const double y = frame.y(part * frame.most);
    canvas->path({{kLeft, y}, {kWidth - kRight, y}}, kGrid);
    canvas->text({kLeft - 6, y + 4}, short_number(part * frame.most), Anchor::End);
  }
  canvas->text({kLeft, 15}, title, Anchor::Start);
  draw_legend(*canvas, names, legend);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    std::vector<Point> points;
    double before = 0;
    for (const SeriesStep& step : thin(lines[i].series, kMostPoints)) {
      points.push_back({frame.x(step.at), frame.y(before)});
      points.push_back({frame.x(step.at), frame.y(step.value)});
      before = step.value;
    }
    canvas->path(points, line_colour(i));
  }
  return canvas->finish();
}

}  // namespace berth
