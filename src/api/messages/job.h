// Jobs as lists, `berth show` and the event `job` report them.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "core/description.h"

namespace berth {

/// "ok", "any" or "notok".
std::string_view when_name(Dependency::When when);

struct AttemptReport {
  std::uint16_t attempt = 0;
  std::vector<std::string> gpus;
  pid_t pid = 0;
  double started = 0;
  double ended = 0;
  std::string outcome;
  std::optional<int> exit_code;
  std::optional<int> signal;
  std::string reason;
  Bytes peak;
  std::vector<Bytes> peaks;  // on each of its devices; empty: not seen
  std::string log;
  std::string error_log;  // empty: with the output
};

/// What the policy promises a waiting job.
struct PromiseReport {
  double passed_until = 0;  // of its owner's jobs of its priority, only earlier ones can pass it
  double window_s = 0;      // how long that is after its submission
  double length_s = 0;      // of the job, from which this follows; 0: not known
  double start = 0;         // it starts until then, unless running jobs overstay; 0: not promised
};

/// A job as lists and `berth show` report it. Times are seconds since 1970; 0 means not yet.
struct JobReport {
  JobId id;
  JobDescription description;
  std::string state;
  std::uint16_t attempt = 0;
  std::vector<std::string> gpus;  // names of those that the newest attempt has or had
  std::string node;               // of a cluster, on which it runs; empty: none
  std::string slurm_job;          // its number there, while Slurm has it; empty: none
  pid_t pid = 0;
  std::optional<int> exit_code;
  std::optional<int> signal;
  std::string reason;
  double submitted = 0;
  double started = 0;
  double ended = 0;
  std::string log;  // of the newest attempt
  bool paused = false;
  double expected_start = 0;       // of a waiting job, as far as it is known
  double expected_start_from = 0;  // as many such jobs as `coverage` says start between the two
  double expected_start_to = 0;
  double expected_start_coverage = 0;
  double expected_end = 0;  // of a running job, as far as it is known
  Bytes peak;               // GPU memory at its highest, on the device where it was highest
  double gpu_seconds = 0;
  std::optional<double> energy;          // joules
  std::string why;                       // why it waits; only when asked for
  std::optional<PromiseReport> promise;  // likewise
  std::uint64_t claim_runs = 0;  // runs that its learned claim comes from; only when asked for
  std::uint64_t claim_runs_needed = 0;  // about how many more until it has one; likewise
  std::vector<AttemptReport> attempts;  // only when asked for
  std::optional<std::vector<std::string>> environment;  // likewise, if the client may edit the job
};

/// GET /v1/jobs/{id}, and the event `job`.
std::string to_json(const JobReport& report);
Result<JobReport> parse_job_report(std::string_view json);

/// GET /v1/jobs: a page of jobs.
struct JobsReply {
  std::vector<JobReport> jobs;
  std::optional<JobId> next;  // where to go on; none at the end
};
std::string to_json(const JobsReply& reply);
Result<JobsReply> parse_jobs_reply(std::string_view json);

}  // namespace berth
