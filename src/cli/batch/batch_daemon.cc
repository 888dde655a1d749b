#include "cli/batch/batch_daemon.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "api/messages/job.h"
#include "cli/toolkit/daemon_client.h"

namespace berth {
namespace {

/// What a request may name, so that it stays short.
constexpr std::size_t kRangesAtOnce = 100;
constexpr std::size_t kPage = 1000;

/// "select=3-7&select=9", for as many of the jobs as one request takes. `at` is moved behind them.
std::string next_query(const std::vector<std::uint64_t>& jobs, std::size_t& at) {
  std::string query;
  for (std::size_t ranges = 0; ranges < kRangesAtOnce && at < jobs.size(); ++ranges) {
    const std::uint64_t first = jobs[at];
    std::uint64_t last = first;
    while (++at < jobs.size() && jobs[at] <= last + 1) {
      last = jobs[at];
    }
    query += fmt::format("&select={}-{}", first, last);
  }
  return query;
}

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
  std::map<std::uint64_t, QueuedTask> known;
  std::vector<std::uint64_t> sorted = jobs;
  std::sort(sorted.begin(), sorted.end());
  Result<HttpClient> daemon = connect_running_daemon();
  for (std::size_t at = 0; daemon && at < sorted.size();) {
    const std::string query = next_query(sorted, at);
    for (std::optional<JobId> after = JobId{}; after;) {
      const Result<JobsReply> page = as_message(
          ask(*daemon, "GET",
              fmt::format("/v1/jobs?all=1&after={}&limit={}{}", after->value, kPage, query)),
          parse_jobs_reply);
      if (!page) {
        return known;
      }
      for (const JobReport& job : page->jobs) {
        known[job.id.value] = {job.state, reason_of(job)};
      }
      after = page->next;
    }
  }
  return known;
}

}  // namespace berth
