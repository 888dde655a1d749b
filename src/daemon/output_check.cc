#include "daemon/output_check.h"

#include <fmt/format.h>

#include "daemon/output_path.h"

namespace berth {

Result<void> OutputCheck::add(const SubmittedJob& job) {
  const JobDescription& told = job.description;
  if (Result<void> added = add_path(told.output, job); !added) {
    return added;
  }
  return told.error == told.output ? Result<void>() : add_path(told.error, job);
}

Result<void> OutputCheck::add_path(const std::string& pattern, const SubmittedJob& job) {
  // Many may write to a device: /dev/null is not a file that could be spoilt.
  if (pattern.empty() || pattern.starts_with("/dev/") || has_sign(pattern, 'j')) {
    return {};
  }
  if (job.count > 1 && !has_sign(pattern, 'a')) {
    return fail(ErrorCode::Usage,
                fmt::format("its {} jobs would write to one file: put %a (the array index) or %j "
                            "(the job's number) into {}",
                            job.count, pattern));
  }
  if (job.count > 1) {
    return {};  // its members differ; they may be a million, too many to hold against other jobs
  }
  const std::string path = output_path(pattern, JobId{}, job.description);
  if (!paths_.insert(std::hash<std::string>{}(path)).second) {
    return fail(ErrorCode::Usage,
                fmt::format("another job of this submission writes to {}, too: put %j (the job's "
                            "number) into the path",
                            path));
  }
  return {};
}

}  // namespace berth
