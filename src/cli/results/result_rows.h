// The results of jobs as a table: a row for each job, with a column for each parameter and each
// metric. Pure; the log of a job is read by the caller.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "api/messages/job.h"
#include "base/result.h"
#include "cli/toolkit/terminal.h"

namespace berth {

struct ResultRow {
  JobReport job;
  std::vector<std::string> metrics;  // one for each of `Results::metrics`; empty: not in the log
};

struct Results {
  std::vector<std::string> metrics;  // their names
  std::vector<ResultRow> rows;
};

/// By id, name, state, time, peak, exit, a parameter or a metric; "-" before it turns the order.
/// Numbers are compared as numbers, and what is not there comes last.
Result<void> sort_results(Results& results, std::string_view key);

std::string results_table(const Results& results, const Terminal& terminal);
std::string results_csv(const Results& results);
std::string results_json(const Results& results);

}  // namespace berth
