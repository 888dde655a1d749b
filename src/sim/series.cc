#include "sim/series.h"

#include <algorithm>
#include <map>

namespace berth {
namespace {

/// Changes by time, added up.
Series add_up(std::vector<SeriesStep> changes, double value) {
  std::sort(changes.begin(), changes.end(),
            [](const SeriesStep& a, const SeriesStep& b) { return a.at < b.at; });
  Series series;
  for (const SeriesStep& change : changes) {
    value += change.value;
    if (!series.empty() && series.back().at == change.at) {
      series.back().value = value;
    } else {
      series.push_back({change.at, value});
    }
  }
  return series;
}

/// When each device had jobs, whoever they were.
std::vector<Stay> busy_times(const SimRun& run) {
  std::vector<Stay> stays = run.timeline;
  std::sort(stays.begin(), stays.end(), [](const Stay& a, const Stay& b) {
    return std::pair(a.device, a.from) < std::pair(b.device, b.from);
  });
  std::vector<Stay> merged;
  for (const Stay& stay : stays) {
    if (!merged.empty() && merged.back().device == stay.device && stay.from <= merged.back().to) {
      merged.back().to = std::max(merged.back().to, stay.to);
    } else {
      merged.push_back(stay);
    }
  }
  return merged;
}

}  // namespace

Series busy_devices(const SimRun& run) {
  std::vector<SeriesStep> changes;
  for (const Stay& stay : busy_times(run)) {
    changes.push_back({stay.from, 1});
    changes.push_back({stay.to, -1});
  }
  return add_up(std::move(changes), 0);
}

Series power_draw(const Machine& machine, const SimRun& run) {
  double idle = 0;
  for (const SimDevice& device : machine) {
    idle += device.spec.power.idle;
  }
  std::vector<SeriesStep> changes;
  for (const Stay& stay : busy_times(run)) {
    const DevicePower& power = machine[stay.device.value].spec.power;
    changes.push_back({stay.from, power.busy - power.idle});
    changes.push_back({stay.to, power.idle - power.busy});
  }
  return add_up(std::move(changes), idle);
}

Series waiting_jobs(const Workload& workload, const SimRun& run) {
  std::vector<SeriesStep> changes;
  for (std::size_t i = 0; i < workload.jobs.size(); ++i) {
    changes.push_back({workload.jobs[i].submit, 1});
    changes.push_back({run.outcomes[i].ended, -1});
  }
  std::map<std::pair<std::uint32_t, Time>, Time> stays;  // a job's devices are one stay
  for (const Stay& stay : run.timeline) {
    stays[{stay.job, stay.from}] = stay.to;
  }
  for (const auto& [begin, end] : stays) {
    changes.push_back({begin.second, -1});
    changes.push_back({end, 1});
  }
  return add_up(std::move(changes), 0);
}

Series completions(const SimRun& run) {
  std::vector<SeriesStep> changes;
  for (const JobOutcome& outcome : run.outcomes) {
    changes.push_back({outcome.ended, 1});
  }
  return add_up(std::move(changes), 0);
}

Series thin(const Series& series, std::size_t most) {
  if (series.size() <= most || most == 0) {
    return series;
  }
  const Duration bin =
      (series.back().at - series.front().at) / static_cast<std::int64_t>(most) + Duration{1};
  Series thinned;
  for (const SeriesStep& step : series) {
    const Time at = series.front().at + (step.at - series.front().at) / bin * bin;
    if (!thinned.empty() && thinned.back().at == at) {
      thinned.back().value = std::max(thinned.back().value, step.value);
    } else {
      thinned.push_back({at, step.value});
    }
  }
  return thinned;
}

}  // namespace berth
