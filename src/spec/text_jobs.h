// Texts that describe many jobs, as submissions: job lines, GPUPeasy's batches, sweeps and the CSV
// files of `berth batch`. The same for the command line and for the daemon, who shows what a text
// would queue before it does. Pure but for CSV, which looks whether the files are there; of any
// thread.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/bounds.h"
#include "base/patience.h"
#include "core/job_bounds.h"
#include "spec/job_line.h"
#include "spec/sweep.h"
#include "spec/task.h"

namespace berth {

/// What is wrong with a text. Line and column count from 1; 0 where there is no place to name.
struct TextProblem {
  std::size_t line = 0;
  std::size_t column = 0;
  std::string message;
};

/// How much of a text is read.
struct TextLimits {
  static constexpr std::size_t kAll = std::numeric_limits<std::size_t>::max();

  std::size_t keep = kAll;  // the first of its jobs; the others are counted
  /// Whether they go into one submission, and have to keep within its bounds.
  bool bounded = false;
  Patience patience = {};  // when it ends, what follows is not read

  /// Of the jobs that are read.
  std::size_t most() const { return bounded ? kMostJobs : kAll; }
};

struct TextJobs {
  std::uint64_t count = 0;
  std::vector<SubmittedJob> jobs;  // the first of them
  std::vector<std::size_t> lines;  // where each of those stands
  /// What the others ask for, and the line of the first that does; up to kMostNeeds.
  std::map<Needs, std::size_t> other_needs;
  std::vector<TextProblem> problems;  // up to kMostProblems

  static constexpr std::size_t kMostProblems = 1000;
  static constexpr std::size_t kMostNeeds = 1000;

  /// For so many jobs, as far as they are kept.
  void reserve(std::size_t expected, const TextLimits& limits);
  /// False when no more jobs can be taken; a problem says so then.
  bool add(SubmittedJob job, std::size_t line, const TextLimits& limits);
  void complain(std::size_t line, std::size_t column, std::string message);

 private:
  SubmissionMeter meter_;
};

/// Makes jobs of lines, which may follow each other by their names and by their places.
class LineJobs {
 public:
  explicit LineJobs(const JobDescription& defaults) : defaults_(defaults) {}

  /// What the line says, over what the defaults say.
  Result<SubmittedJob> add(JobLine line);
  /// A point's command is read as a line is; the job carries its parameters.
  Result<SubmittedJob> add(const Sweep& sweep, const SweepCursor& point);

 private:
  const JobDescription& defaults_;
  EarlierJobs earlier_;
};

/// The job of a row.
SubmittedJob job_of(const Task& task, std::uint64_t id, const JobDescription& defaults);

TextJobs read_line_jobs(std::string_view text, const JobDescription& defaults,
                        const TextLimits& limits);
TextJobs read_peasy_jobs(std::string_view text, const JobDescription& defaults,
                         const TextLimits& limits);
TextJobs read_task_jobs(std::string_view text, TaskFormat format, const JobDescription& defaults,
                        const TextLimits& limits);
/// The jobs carry the name of the sweep, which is that of the defaults where it has no other.
TextJobs read_sweep_jobs(SweepSpec spec, std::uint64_t seed, const JobDescription& defaults,
                         const TextLimits& limits);

}  // namespace berth
