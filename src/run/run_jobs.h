// RunJobs: the jobs of a run, from the job line to the outcome that other jobs depend on. It holds
// what the scheduler does not need to know about a job. There may be a million jobs.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/id_table.h"
#include "core/owners.h"
#include "drive/driver.h"
#include "run/joblog.h"
#include "run/run_options.h"
#include "spec/job_line.h"

namespace berth {

struct RunJob {
  struct Labels {
    std::string name;
    std::string project;
  };
  std::string command;
  std::unique_ptr<Labels> labels;  // most jobs have none

  std::string_view name() const { return labels == nullptr ? std::string_view{} : labels->name; }
  std::string_view project() const {
    return labels == nullptr ? std::string_view{} : labels->project;
  }
};

class RunJobs {
 public:
  /// Borrows `options` and `driver`, and in resume() the joblog of an earlier run that this one
  /// resumes. Without resume(), nothing is resumed.
  RunJobs(const RunOptions& options, Driver& driver);

  void resume(const Joblog& joblog) { joblog_ = &joblog; }

  enum class Taken {
    Queued,
    Skipped,  // the joblog says that the job need not run again
    Never,    // a job that it follows has already ended the wrong way
  };
  /// Adds the next job. Its number is last() from then on, unless there is an error.
  Result<Taken> add(JobLine line, Time at);

  JobId last() const { return JobId{last_id_}; }
  /// Valid until the job has ended.
  const RunJob& operator[](JobId id) const { return *jobs_.find(id); }
  Recipe recipe(JobId id) const;
  void ended(JobId id, Outcome outcome);

 private:
  Result<JobSpec> specify(const JobLine& line, bool& never);
  Result<void> add_dependencies(JobSpec& spec, const JobLine& line, bool& never) const;
  Result<bool> done_before(JobId id, const JobLine& line) const;
  void number(const JobLine& line, Outcome outcome);

  const RunOptions& options_;
  Driver& driver_;
  const Joblog* joblog_ = nullptr;
  Owners owners_;  // by project: all jobs are of one user
  IdTable<RunJob> jobs_;
  EarlierJobs earlier_;
  std::vector<Outcome> outcomes_;  // by number; meaningless for jobs that have not ended
  std::uint64_t last_id_ = 0;
};

}  // namespace berth
