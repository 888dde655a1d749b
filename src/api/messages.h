// Messages: what goes over berth's interface, as JSON. Clients and the daemon use the same
// functions, so that what one writes the other reads. docs/openapi.yaml describes the same for
// everybody else.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "core/description.h"

namespace berth {

/// POST /v1/jobs. What the jobs have in common stands once.
struct SubmitRequest {
  std::string token;  // empty: none. The same token again gives the same jobs again
  JobDescription defaults;
  std::vector<JobDescription> jobs;  // without environment: theirs is that of `defaults`
};

std::string to_json(const SubmitRequest& submission);
/// An error names the job and the field that is wrong.
Result<SubmitRequest> parse_submit_request(std::string_view json);

struct SubmitReply {
  JobId first;
  std::uint64_t count = 0;
};
std::string to_json(const SubmitReply& reply);
Result<SubmitReply> parse_submit_reply(std::string_view json);

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
  std::string why;  // why it waits; only when asked for
};

std::string to_json(const JobReport& report);
/// {"version":1,"jobs":[…],"next":…}; `next` is where to go on, absent at the end.
std::string to_json(const std::vector<JobReport>& reports, std::optional<JobId> next);

/// {"version":1,"error":{"code":…,"message":…}}
std::string error_json(const Error& error);
/// The error in a reply that is one.
Error parse_error(std::string_view json, int status);
int http_status(ErrorCode code);

}  // namespace berth
