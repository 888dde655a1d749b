#include "cli/recipes/runs_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "spec/csv.h"

namespace berth {
namespace {

std::string project_of(const Recipe& recipe) {
  const std::size_t line = recipe.key.find('\n');
  return recipe.key.substr(0, line == recipe.key.npos ? 0 : line);
}

/// Whether reading it again gives the same recipe.
bool is_written_well(const Recipe& recipe) {
  const Recipe again = recipe_of(project_of(recipe), command_of(recipe));
  return again.key == recipe.key && again.numbers == recipe.numbers;
}

PastRun run_of(const TrialJob& job) {
  PastRun run{job.recipe, job.peak, {}};
  if (job.seconds) {
    run.length = std::chrono::milliseconds(std::llround(*job.seconds * 1000));
  }
  return run;
}

}  // namespace

std::string command_of(const Recipe& recipe) {
  std::string command;
  std::size_t next = 0;
  const std::size_t line = recipe.key.find('\n');
  for (std::size_t i = line == recipe.key.npos ? 0 : line + 1; i < recipe.key.size(); ++i) {
    if (recipe.key[i] != '#') {
      command += recipe.key[i];
    } else if (i + 1 < recipe.key.size() && recipe.key[i + 1] == '#') {
      command += recipe.key[i++];
    } else if (next < recipe.numbers.size()) {
      command += fmt::format("{}", recipe.numbers[next++]);
    }
  }
  return command;
}

std::string runs_csv(std::span<const PastRun> runs) {
  std::string text = "project,command,peak_mib,seconds\n";
  for (const PastRun& run : runs) {
    if (!is_written_well(run.recipe)) {
      continue;
    }
    text += fmt::format(
        "{},{},{},{}\n", csv_field(project_of(run.recipe)), csv_field(command_of(run.recipe)),
        run.peak > Bytes{} ? fmt::format("{}", static_cast<double>(run.peak.count) / 1048576) : "",
        run.length ? fmt::format("{}", to_seconds(*run.length)) : "");
  }
  return text;
}

std::size_t merge_runs(std::vector<PastRun>& known, std::span<const TrialJob> jobs) {
  std::set<std::string> lines;
  for (const PastRun& run : known) {
    lines.insert(line_of(run));
  }
  std::vector<PastRun> all;
  for (const TrialJob& job : jobs) {
    PastRun run = run_of(job);
    if (!lines.contains(line_of(run))) {
      all.push_back(std::move(run));
    }
  }
  const std::size_t fresh = all.size();
  std::move(known.begin(), known.end(), std::back_inserter(all));
  known = std::move(all);
  return fresh;
}

}  // namespace berth
