// `berth batch --submit`: the rows of a file as jobs of the daemon.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <utility>

#include "cli/batch/batch_daemon.h"
#include "cli/batch/batch_options.h"
#include "cli/commands.h"
#include "cli/jobs/submission.h"
#include "cli/toolkit/job_options.h"
#include "cli/toolkit/words.h"
#include "spec/text_jobs.h"

namespace berth {
namespace {

struct PendingRow {
  std::size_t row = 0;
  std::uint64_t id = 0;
  std::size_t batch = 0;
  std::uint64_t before = 0;  // the job that it was, if it has failed as one
};

/// The rows that are to be run, batch by batch; rows that no batch had are put into new ones.
Result<std::vector<PendingRow>> pending_rows(const BatchCommand& command,
                                             const std::vector<Task>& tasks,
                                             BatchJournal& journal) {
  const BatchProgress& progress = journal.progress();
  while (progress.taken() < tasks.size()) {
    const std::size_t left = tasks.size() - progress.taken();
    const std::size_t size = command.batch.size;
    if (const auto begun = journal.begin_batch(size == 0 ? left : std::min(left, size)); !begun) {
      return Failure(begun.error());
    }
  }
  std::vector<PendingRow> rows;
  for (std::size_t batch = 0; batch < progress.batches.size(); ++batch) {
    const BatchSpan& span = progress.batches[batch];
    for (std::size_t row = span.first; row < std::min(span.end(), tasks.size()); ++row) {
      if (is_pending(progress.row(row), tasks[row], command.batch.rerun_failed)) {
        rows.push_back({row, span.first_id + (row - span.first), batch, progress.row(row).job});
      }
    }
  }
  return rows;
}

/// Each job follows all of the batch before, however those end.
Result<SubmitRequest> request_for(const std::vector<PendingRow>& rows,
                                  const std::vector<Task>& tasks, JobDescription defaults) {
  constexpr std::size_t kMostFollows = 4'000'000;  // of all jobs together
  SubmitRequest request;
  std::size_t follows = 0;
  std::size_t batch_begin = 0;   // of the batch of this row
  std::size_t before_begin = 0;  // of the batch before it
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (i > 0 && rows[i].batch != rows[i - 1].batch) {
      before_begin = std::exchange(batch_begin, i);
    }
    follows += batch_begin - before_begin;
    if (follows > kMostFollows) {
      return fail(
          ErrorCode::Usage,
          "too many jobs would follow too many others: queue them with --restart and a smaller "
          "--num, or without it");
    }
    SubmittedJob job = job_of(tasks[rows[i].row], rows[i].id, defaults);
    for (std::size_t other = before_begin; other < batch_begin; ++other) {
      job.follows.push_back({other, Dependency::When::Any});
    }
    request.jobs.push_back(std::move(job));
  }
  request.defaults = std::move(defaults);
  return request;
}

}  // namespace

Result<int> submit_batch(const BatchCommand& command, const std::vector<Task>& tasks,
                         BatchJournal& journal) {
  Result<JobDescription> defaults = JobOptions().description();
  if (!defaults) {
    return Failure(defaults.error());
  }
  command.defaults.apply(defaults->spec);
  const Needs& wanted = command.run.defaults.needs;
  Needs& needs = defaults->spec.needs;
  needs.target = wanted.target;
  needs.target_options = wanted.target_options;
  needs.spill = wanted.spill;
  if (const Result<void> applied = command.mps.apply(needs); !applied) {
    return Failure(applied.error());
  }
  for (;;) {
    const Result<std::vector<PendingRow>> rows = pending_rows(command, tasks, journal);
    if (!rows) {
      return Failure(rows.error());
    }
    if (rows->empty()) {
      return 0;
    }
    Result<SubmitRequest> request = request_for(*rows, tasks, *defaults);
    if (!request) {
      return Failure(request.error());
    }
    // Whoever was killed between the queue's answer and the journal gets the same answer again: for
    // the rows that there were then, which may be fewer.
    request->token = fmt::format("batch-{}-{}", journal.progress().token, rows->front().id);
    if (rows->front().before != 0) {
      request->token += fmt::format("-{}", rows->front().before);  // another job than that
    }
    const Result<std::vector<SubmitReply>> replies = send_submission(*request);
    if (!replies) {
      return Failure(replies.error());
    }
    std::size_t place = 0;
    for (const SubmitReply& reply : *replies) {
      for (std::uint64_t i = 0; i < reply.count && place < rows->size(); ++i, ++place) {
        const std::size_t row = (*rows)[place].row;
        const Result<void> noted =
            journal.row_submitted(row, tasks[row].fingerprint, reply.first.value + i);
        if (!noted) {
          return Failure(noted.error());
        }
      }
    }
    fmt::print("{}\n", job_ranges(*replies));
    std::fflush(stdout);
  }
}

Result<int> await_batch(BatchJournal& journal) {
  std::vector<std::size_t> rows;
  std::vector<SubmitReply> jobs;
  for (const auto& [row, record] : journal.progress().rows) {
    if (record.state != RowState::Submitted) {
      continue;
    }
    rows.push_back(row);
    if (jobs.empty() || jobs.back().first.value + jobs.back().count != record.job) {
      jobs.push_back({JobId{record.job}, 0, {}});
    }
    ++jobs.back().count;
  }
  const std::string ranges = job_ranges(jobs);
  const int waited = wait_main(split(ranges, ' '));
  if (const Result<void> noted = note_ends(journal); !noted) {
    return Failure(noted.error());
  }
  std::size_t succeeded = 0;
  std::size_t failed = 0;
  for (const std::size_t row : rows) {
    const RowState state = journal.progress().row(row).state;
    succeeded += state == RowState::Succeeded ? 1 : 0;
    failed += state == RowState::Failed ? 1 : 0;
  }
  fmt::print(stderr, "{} succeeded, {} failed\n", succeeded, failed);
  return failed > 0 ? 1 : waited;
}

}  // namespace berth
