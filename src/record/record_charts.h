// A recording in pictures: use, power and energy of each device over time, who was where, and all
// of it on one page.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "record/recording.h"
#include "sim/charts.h"

namespace berth {

/// A chart, and the word that tells its file from those of the others.
struct NamedChart {
  std::string name;
  std::string picture;
};

/// Who was on which device, with names; `span`: the time axis.
std::string occupation_chart(const MakeCanvas& make, std::string_view title,
                             const Recording& recording, Span span);
/// usage, power, energy and gantt; those of which nothing is known are not among them.
std::vector<NamedChart> record_charts(const MakeCanvas& make, const Recording& recording);

std::string record_page(std::string_view heading, const Recording& recording);

}  // namespace berth
