// The options of `berth sim`, and the study that they describe.
#pragma once

#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/toolkit/args.h"
#include "sim/study.h"
#include "sim/trace.h"

namespace berth {

struct SimCommandOptions {
  std::optional<std::string> trace;
  std::optional<std::string> generate;
  bool history = false;  // the daemon's jobs
  bool advise = false;
  std::string gpus;
  std::vector<std::string> policies;
  std::vector<Placement> placements;
  std::vector<std::pair<std::size_t, std::size_t>> windows;  // first row, count
  TraceOptions trace_options;
  std::int64_t seed = 1;
  std::int64_t seeds = 1;
  std::int64_t threads = 0;
  StudyOptions study;
  bool json = false;
  bool spans = false;
  std::optional<std::string> jobs_file;
  std::optional<std::string> report_file;
  std::optional<std::string> gantt_file;

  void declare_workload(Args& args);
  void declare_study(Args& args);
};

/// Everything that a study needs, read or generated.
struct PreparedStudy {
  Machine machine;
  std::vector<Contender> contenders;
  std::vector<Trial> trials;
  std::optional<SimRun> recorded;   // the real outcomes of the first trial's jobs
  double jobs_j = 0;                // what the jobs drew when they really ran; 0 if not known
  std::size_t skipped = 0;          // rows of the trace
  std::string first_skipped;        // why the first of them was skipped
  std::string in_use = "priority";  // the policy to compare others with, where that is asked
  double origin = 0;                // of all times; seconds since 1970 if known
};
Result<PreparedStudy> prepare_study(SimCommandOptions& options);
/// The machine that --gpus names.
Result<void> prepare_machine(const SimCommandOptions& options, PreparedStudy& study);
/// The policies and how they are run.
Result<void> prepare_contenders(SimCommandOptions& options, PreparedStudy& study);
/// Runs the study. Prints, writes and draws what the options ask for. Returns the exit code.
Result<int> run_prepared(SimCommandOptions& options, PreparedStudy& study);

/// --advise: chooses the policies to compare where the user has named none.
Result<void> choose_advised(SimCommandOptions& options, PreparedStudy& study);
/// There is nothing to go by, which is an answer, too. Returns the exit code.
int advise_nothing(const SimCommandOptions& options, const Error& why);
/// Runs the study and prints which policy would have served best. Returns the exit code.
Result<int> advise_prepared(const SimCommandOptions& options, const PreparedStudy& study);

using File = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;
Result<void> write_file(const std::string& path, const std::string& text);

int sim_convert_main(std::span<const std::string_view> words);
int sim_journal_main(std::span<const std::string_view> words);

}  // namespace berth
