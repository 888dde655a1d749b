// Series: a quantity of a run over time, as steps that charts can draw.
#pragma once

#include "sim/simulate.h"

namespace berth {

/// A value that holds from this time until the next step.
struct SeriesStep {
  Time at;
  double value = 0;
};
using Series = std::vector<SeriesStep>;

/// All of these need a run with its timeline.
Series busy_devices(const SimRun& run);
Series waiting_jobs(const Workload& workload, const SimRun& run);
Series power_draw(const Machine& machine, const SimRun& run);
/// How many jobs have ended.
Series completions(const SimRun& run);

/// At most `most` steps. Where several steps fall into one, the largest value stays.
Series thin(const Series& series, std::size_t most);

}  // namespace berth
