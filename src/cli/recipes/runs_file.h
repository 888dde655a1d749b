// Runs as a CSV file: what `berth recipes export` writes and `import` reads.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/learning_trial.h"
#include "memory/past_run.h"

namespace berth {

/// The command of a run, with its numbers.
std::string command_of(const Recipe& recipe);
/// Columns project, command, peak_mib and seconds. Runs with numbers that nobody could write are
/// omitted.
std::string runs_csv(std::span<const PastRun> runs);
/// Puts runs of a file before those that are known, so that these count as newer. Those that are
/// known already are not taken twice. How many were new.
std::size_t merge_runs(std::vector<PastRun>& known, std::span<const TrialJob> jobs);

}  // namespace berth
