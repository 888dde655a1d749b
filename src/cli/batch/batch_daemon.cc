#include "cli/batch/batch_daemon.h"

#include <fmt/format.h>

#include "api/messages/job.h"
#include "cli/toolkit/selection.h"

namespace berth {
namespace {

std::string reason_of(const JobReport& job) {
  if (!job.reason.empty()) {
    return job.reason;
  }
  if (job.state != "failed") {
    return job.state;
  }
  return job.signal ? fmt::format("signal {}", *job.signal)
                    : fmt::format("exit {}", job.exit_code.value_or(1));
}

}  // namespace

std::map<std::uint64_t, QueuedTask> look_up_tasks(const std::vector<std::uint64_t>& jobs) {
  std::vector<JobId> ids;
  for (const std::uint64_t job : jobs) {
    ids.push_back(JobId{job});
  }
  std::map<std::uint64_t, QueuedTask> known;
  const Result<std::map<JobId, JobReport>> found = find_jobs(ids);
  for (const auto& [id, job] : found ? *found : std::map<JobId, JobReport>{}) {
    known[id.value] = {job.state, reason_of(job)};
  }
  return known;
}

}  // namespace berth
