// Series: what a run looked like over time, as steps that charts can draw.
#pragma once

#include "sim/simulate.h"

namespace berth {

/// A value that holds from a time on until the next.
struct SeriesStep {
  Time at;
  double value = 0;
};
using Series = std::vector<SeriesStep>;

/// All need a run with its timeline.
Series busy_devices(const SimRun& run);
Series waiting_jobs(const Workload& workload, const SimRun& run);
Series power_draw(const Machine& machine, const SimRun& run);
/// How many jobs have ended.
Series completions(const SimRun& run);

/// At most `most` steps: where several fall into one, the largest stays.
Series thin(const Series& series, std::size_t most);

}  // namespace berth
