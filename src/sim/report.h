// A study as one self-contained page: the figures of all contenders in a table, their curves side
// by side, and for each contender which jobs ran where.
#pragma once

#include "sim/study.h"

namespace berth {

/// The data that the page needs of one contender: its figures, and its first run with a timeline.
struct ReportedRun {
  std::string name;
  std::vector<Summary> summaries;
  SimRun run;
};

std::string html_report(std::string_view heading, const Workload& workload, const Machine& machine,
                        const std::vector<ReportedRun>& runs);

}  // namespace berth
