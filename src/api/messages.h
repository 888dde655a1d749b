// Messages: what goes over berth's interface, as JSON. Clients and the daemon use the same
// functions, so that what one writes the other reads. docs/openapi.yaml describes the same for
// everybody else.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/patience.h"
#include "base/result.h"
#include "core/description.h"

namespace berth {

/// An earlier job of the same submission that a job must follow.
struct LocalDependency {
  std::size_t position = 0;
  Dependency::When when = Dependency::When::Ok;
};

struct SubmittedJob {
  JobDescription description;  // without environment: it is that of the defaults
  std::uint32_t count = 1;     // an array of so many; indices count up from the description's
  std::vector<LocalDependency> follows;
};

/// POST /v1/jobs. What the jobs have in common stands once.
struct SubmitRequest {
  std::string token;  // empty: none. The same token again gives the same jobs again
  JobDescription defaults;
  std::vector<SubmittedJob> jobs;
  /// Their environment is that of this job, or (0) the daemon's own, with that of the defaults over
  /// it; their directory, where none is given, the user's home.
  std::optional<JobId> environment_from = {};
  /// Room for its jobs, which others get when they are queued. May be left out.
  std::shared_ptr<void> room = {};
};

std::string to_json(const SubmitRequest& submission);
/// An error names the job and the field that is wrong.
Result<SubmitRequest> parse_submit_request(std::string_view json, const Patience& patience = {});

struct SubmitReply {
  JobId first;
  std::uint64_t count = 0;
};
std::string to_json(const SubmitReply& reply);
Result<SubmitReply> parse_submit_reply(std::string_view json);

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
  std::vector<Bytes> peaks;  // on each of its devices; none: not seen
  std::string log;
  std::string error_log;  // empty: with the output
};

/// A job as lists and `berth show` give it. Times are seconds since 1970, 0 where there is none
/// yet.
struct JobReport {
  JobId id;
  JobDescription description;
  std::string state;
  std::uint16_t attempt = 0;
  std::vector<std::string> gpus;
  pid_t pid = 0;
  std::optional<int> exit_code;
  std::optional<int> signal;
  std::string reason;
  double submitted = 0;
  double started = 0;
  double ended = 0;
  std::string log;  // of the newest attempt
  bool paused = false;
  double expected_start = 0;  // of a job that waits, as far as that can be told
  double expected_end = 0;    // of one that runs, likewise
  Bytes peak;                 // GPU memory at its highest, on the device where it was highest
  double gpu_seconds = 0;
  std::optional<double> energy;                         // joules
  std::string why;                                      // why it waits; only when asked for
  std::vector<AttemptReport> attempts;                  // only when asked for
  std::optional<std::vector<std::string>> environment;  // likewise, and by whose job it is
};

std::string to_json(const JobReport& report);
/// {"version":1,"jobs":[…],"next":…}; `next` is where to go on, absent at the end.
std::string to_json(const std::vector<JobReport>& reports, std::optional<JobId> next);

/// What is to change of a waiting job, over what it says already.
Result<void> read_edit(std::string_view json, JobDescription& job);

/// POST /v1/session.
Result<std::string> parse_login_code(std::string_view json);

/// `text` as a JSON string, with its quotes.
std::string quote(std::string_view text);

/// {"version":1,"error":{"code":…,"message":…}}
std::string error_json(const Error& error);
/// The error in a reply that is one.
Error parse_error(std::string_view json, int status);
int http_status(ErrorCode code);

}  // namespace berth
