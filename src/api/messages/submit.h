// POST /v1/jobs: jobs to queue, and their numbers.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/patience.h"
#include "base/result.h"
#include "core/submitted_job.h"

namespace berth {

/// POST /v1/jobs. What the jobs have in common is given once.
struct SubmitRequest {
  std::string token;  // empty: none. The same token again returns the same jobs
  JobDescription defaults;
  std::vector<SubmittedJob> jobs;
  /// The jobs get the environment of this job, or (0) the daemon's own, with that of the defaults
  /// over it. Jobs without a directory get the user's home.
  std::optional<JobId> environment_from = {};
  bool continues = false;  // a further part of the submission that the same client sent before
  /// Memory for its jobs, which other requests get once the jobs are queued. May be omitted.
  std::shared_ptr<void> room = {};
};

/// Writes the jobs as they are. Of the defaults, only the environment counts.
std::string to_json(const SubmitRequest& submission);
/// An error names the job and the wrong field.
Result<SubmitRequest> parse_submit_request(std::string_view json, const Patience& patience = {});

struct SubmitReply {
  JobId first;
  std::uint64_t count = 0;
  std::string note = {};  // what the user should know of these jobs; usually empty
};
std::string to_json(const SubmitReply& reply);
Result<SubmitReply> parse_submit_reply(std::string_view json);

}  // namespace berth
