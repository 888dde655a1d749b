// Texts that describe many jobs, as submissions: job lines, GPUPeasy's batches, sweeps and the CSV
// files of `berth batch`. The same for the command line and for the daemon, who shows what a text
// would queue before it does. Pure but for CSV, which looks whether the files are there; of any
// thread.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "api/messages.h"
#include "batch/task.h"
#include "spec/job_line.h"
#include "spec/sweep.h"

namespace berth {

/// What is wrong with a text. Line and column count from 1; 0 where there is no place to name.
struct TextProblem {
  std::size_t line = 0;
  std::size_t column = 0;
  std::string message;
};

struct TextJobs {
  std::uint64_t count = 0;
  std::vector<SubmittedJob> jobs;  // the first of them
  std::vector<std::size_t> lines;  // where each of those stands
  /// What the others ask for, and the line of the first that does.
  std::map<Needs, std::size_t> other_needs;
  std::vector<TextProblem> problems;  // up to kMostProblems

  static constexpr std::size_t kMostProblems = 1000;

  void add(SubmittedJob job, std::size_t line, std::size_t keep);
  void complain(std::size_t line, std::size_t column, std::string message);
};

/// Makes jobs of lines, which may follow each other by their names and by their places.
class LineJobs {
 public:
  explicit LineJobs(const JobDescription& defaults) : defaults_(defaults) {}

  /// What the line says, over what the defaults say.
  Result<SubmittedJob> add(JobLine line);

 private:
  Result<LocalDependency> find(const AfterName& after) const;

  const JobDescription& defaults_;
  std::map<std::string, std::size_t> positions_;
  std::size_t count_ = 0;
};

/// The job of a row.
SubmittedJob job_of(const Task& task, std::uint64_t id, const JobDescription& defaults);

// Each keeps the first `keep` jobs and counts the others.
TextJobs read_line_jobs(std::string_view text, const JobDescription& defaults, std::size_t keep);
TextJobs read_peasy_jobs(std::string_view text, const JobDescription& defaults, std::size_t keep);
TextJobs read_task_jobs(std::string_view text, const TaskFormat& format,
                        const JobDescription& defaults, std::size_t keep);
/// The jobs carry the sweep's name and their parameters.
TextJobs read_sweep_jobs(SweepSpec spec, std::uint64_t seed, const JobDescription& defaults,
                         std::size_t keep);

}  // namespace berth
