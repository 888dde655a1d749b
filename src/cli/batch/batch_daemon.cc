#include "cli/batch/batch_daemon.h"

#include <fmt/format.h>

#include <algorithm>

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

/// The journal has one line for each end, with tabs between its words.
std::string one_word(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < ' '; }, ' ');
  return text;
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

Result<void> note_ends(BatchJournal& journal) {
  const std::map<std::size_t, RowRecord> rows = journal.progress().rows;
  std::vector<std::uint64_t> jobs;
  for (const auto& [row, record] : rows) {
    if (record.state == RowState::Submitted) {
      jobs.push_back(record.job);
    }
  }
  if (jobs.empty()) {
    return {};
  }
  const std::map<std::uint64_t, QueuedTask> known = look_up_tasks(jobs);
  for (const auto& [row, record] : rows) {
    const auto job = record.state == RowState::Submitted ? known.find(record.job) : known.end();
    if (job == known.end() || job->second.waits() || job->second.runs()) {
      continue;
    }
    const Result<void> noted =
        job->second.state == "succeeded"
            ? journal.row_succeeded(row, record.fingerprint)
            : journal.row_failed(row, record.fingerprint, one_word(job->second.reason));
    if (!noted) {
      return noted;
    }
  }
  return {};
}

}  // namespace berth
