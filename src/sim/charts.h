// Charts of runs: which job ran where, and lines over time.
#pragma once

#include <functional>

#include "sim/canvas.h"
#include "sim/series.h"

namespace berth {

using MakeCanvas = std::function<std::unique_ptr<Canvas>(int width, int height)>;

/// The time axis that charts of several runs share.
struct Span {
  Time from;
  Time to;
};

/// One row for each device, one bar for each stay. Bars too short to be told apart are drawn as
/// one. With `legend`, the names of the jobs stand below with their colours, as far as there are
/// colours enough.
std::string gantt_chart(const MakeCanvas& make, std::string_view title, const Workload& workload,
                        const Machine& machine, const SimRun& run, Span span, bool legend = false);

struct Line {
  std::string name;
  Series series;
};
std::string line_chart(const MakeCanvas& make, std::string_view title,
                       const std::vector<Line>& lines, Span span);

/// The colour of the n-th line or owner.
Colour3 colour_of(std::size_t n);

}  // namespace berth
