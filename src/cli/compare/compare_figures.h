// What comes of real runs of the same tasks under several policies, in figures, as a table and as
// one page.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "record/recording.h"
#include "run/observer.h"

namespace berth {

/// One run of all tasks.
struct RealRun {
  double jobs = 0;
  double failed = 0;
  double makespan_s = 0;
  double mean_wait_s = 0;  // from the begin of the run to a job's end, less its time on devices
  double longest_wait_s = 0;
  double mean_completion_s = 0;
  double busy = 0;         // the part of the devices' time in which a job worked on them
  double utilization = 0;  // percent, as the driver tells it
  double power_w = 0;      // of all devices together
  double energy_j = 0;
  double stops = 0;  // of jobs whose turn was over
};

RealRun real_run(const Recording& recording, const RunSummary& summary, Time begin);

struct RealFigure {
  std::string_view name;
  double RealRun::*of;
};
std::span<const RealFigure> real_figures();

/// All runs under one policy, and the recording of the first.
struct ComparedPolicy {
  std::string name;
  std::vector<RealRun> runs;
  Recording first;
  Time begin;
};

/// "12.3 ±0.4": the mean, and half of its 95 % confidence interval where there are several runs.
std::string real_cell(const ComparedPolicy& policy, const RealFigure& figure);

std::string comparison_page(std::string_view heading, std::string_view note,
                            const std::vector<ComparedPolicy>& policies);
std::string comparison_csv(const std::vector<ComparedPolicy>& policies);
std::string comparison_json(std::string_view note, const std::vector<ComparedPolicy>& policies);

}  // namespace berth
