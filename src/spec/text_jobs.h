// Texts that describe many jobs, as submissions: job lines, GPUPeasy's batches, sweeps and the CSV
// files of `berth batch`. The command line and the daemon share this code; the daemon shows what a
// text would queue before it queues it. Pure except for CSV, which checks whether the files exist;
// callable from any thread.
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

/// What is wrong with a text. Line and column count from 1; 0 if there is no place to name.
struct TextProblem {
  std::size_t line = 0;
  std::size_t column = 0;
  std::string message;
};

/// How much of a text is read.
struct TextLimits {
  static constexpr std::size_t kAll = std::numeric_limits<std::size_t>::max();

  std::size_t keep = kAll;  // how many of the first jobs to keep; the others are counted
  /// Whether the jobs go into one submission, and must stay within its bounds.
  bool bounded = false;
  Patience patience = {};  // when it ends, the rest is not read

  /// The most jobs that are read.
  std::size_t most() const { return bounded ? kMostJobs : kAll; }
};

struct TextJobs {
  std::uint64_t count = 0;
  std::vector<SubmittedJob> jobs;  // the first jobs
  std::vector<std::size_t> lines;  // the line of each of those jobs
  /// The needs of the other jobs, each with the line of its first job; up to kMostNeeds.
  std::map<Needs, std::size_t> other_needs;
  std::vector<TextProblem> problems;  // up to kMostProblems

  static constexpr std::size_t kMostProblems = 1000;
  static constexpr std::size_t kMostNeeds = 1000;

  /// Makes room for the expected jobs, as far as they are kept.
  void reserve(std::size_t expected, const TextLimits& limits);
  /// False when no more jobs can be taken; a problem then says so.
  bool add(SubmittedJob job, std::size_t line, const TextLimits& limits);
  void complain(std::size_t line, std::size_t column, std::string message);

 private:
  SubmissionMeter meter_;
};

/// Makes jobs out of lines; the jobs may follow each other by name and by place.
class LineJobs {
 public:
  explicit LineJobs(const JobDescription& defaults) : defaults_(defaults) {}

  /// The line's options override the defaults.
  Result<SubmittedJob> add(JobLine line);
  /// Reads a point's command as a line; the job carries the point's parameters.
  Result<SubmittedJob> add(const Sweep& sweep, const SweepCursor& point);

 private:
  const JobDescription& defaults_;
  EarlierJobs earlier_;
};

/// The job of a row of a batch file.
SubmittedJob job_of(const Task& task, std::uint64_t id, const JobDescription& defaults);

TextJobs read_line_jobs(std::string_view text, const JobDescription& defaults,
                        const TextLimits& limits);
TextJobs read_peasy_jobs(std::string_view text, const JobDescription& defaults,
                         const TextLimits& limits);
TextJobs read_task_jobs(std::string_view text, TaskFormat format, const JobDescription& defaults,
                        const TextLimits& limits);
/// The jobs carry the name of the sweep: `defaults.sweep`, or `defaults.name` if that is empty.
TextJobs read_sweep_jobs(SweepSpec spec, std::uint64_t seed, const JobDescription& defaults,
                         const TextLimits& limits);

}  // namespace berth
