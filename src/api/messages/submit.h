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

/// The jobs are written as they are: of the defaults the environment alone counts.
std::string to_json(const SubmitRequest& submission);
/// An error names the job and the field that is wrong.
Result<SubmitRequest> parse_submit_request(std::string_view json, const Patience& patience = {});

struct SubmitReply {
  JobId first;
  std::uint64_t count = 0;
};
std::string to_json(const SubmitReply& reply);
Result<SubmitReply> parse_submit_reply(std::string_view json);

}  // namespace berth
