#include "batch/batch_run.h"

#include <fmt/format.h>

#include <algorithm>

namespace berth {
namespace {

/// "exit 3", "signal 9", "timed_out".
std::string reason_of(const JobEndEvent& end) {
  if (end.outcome != Outcome::Failed) {
    return std::string(outcome_name(end.outcome));
  }
  return end.signal != 0 ? fmt::format("signal {}", end.signal)
                         : fmt::format("exit {}", end.exit_code);
}

}  // namespace

bool is_pending(const RowRecord& record, const Task& task, bool rerun_failed) {
  switch (record.state) {
    case RowState::Waiting:
    case RowState::Running:
      return true;
    case RowState::Failed:
      return rerun_failed || record.fingerprint != task.fingerprint;
    case RowState::Succeeded:
    case RowState::Submitted:
      return false;
  }
  return true;
}

BatchRun::BatchRun(BatchOptions options, const std::vector<Task>& tasks, BatchJournal& journal,
                   RunObserver& reporter)
    : options_(std::move(options)),
      tasks_(tasks),
      journal_(journal),
      reporter_(reporter),
      profiles_(options_.peaks, journal_.progress().profiled) {
  for (std::size_t row = 0; row < tasks_.size(); ++row) {
    const bool pending =
        is_pending(journal_.progress().row(row), tasks_[row], options_.rerun_failed);
    ++(pending ? summary_.counts.not_run : summary_.counts.skipped);
  }
}

Input BatchRun::input() {
  send_ready();
  return Input::from_feed(feed_);
}

/// Takes the next rows that are to be run, in order of priority. False when there are none.
bool BatchRun::begin_batch() {
  members_.clear();
  ready_ = 0;
  profiles_.forget_failures();
  for (; members_.empty(); ++span_) {
    const BatchProgress& progress = journal_.progress();
    if (span_ == progress.batches.size()) {
      const std::size_t left = tasks_.size() - std::min(progress.taken(), tasks_.size());
      if (left == 0) {
        return false;
      }
      const Result<BatchSpan> begun =
          journal_.begin_batch(options_.size == 0 ? left : std::min(left, options_.size));
      note(begun ? Result<void>() : Failure(begun.error()));
    }
    const BatchSpan& span = progress.batches[span_];
    for (std::size_t row = span.first; row < std::min(span.end(), tasks_.size()); ++row) {
      if (is_pending(progress.row(row), tasks_[row], options_.rerun_failed)) {
        members_.push_back({row, span.first_id + (row - span.first), tasks_[row].script()});
      }
    }
  }
  std::stable_sort(members_.begin(), members_.end(), [this](const Member& a, const Member& b) {
    return tasks_[a.row].priority < tasks_[b.row].priority;
  });
  return true;
}

void BatchRun::send_profiles() {
  if (options_.profile_epochs == 0) {
    return;
  }
  profiles_.read_peaks();
  for (std::size_t i = 0; i < members_.size(); ++i) {
    const Member& member = members_[i];
    if (profiles_.is_wanted(member.script)) {
      profiles_.begin(member.script);
      send(member, true, static_cast<std::int32_t>(i) - static_cast<std::int32_t>(members_.size()));
    }
  }
}

/// Sends the tasks that nothing stands before. One is not sent while the profile of one before it
/// goes on: tasks start in the order of their priorities, and profiles, which go before all of
/// them, keep the devices busy meanwhile.
void BatchRun::send_ready() {
  while (ready_ < members_.size() || unfinished_ == 0) {
    if (ready_ == members_.size()) {
      if (!begin_batch()) {
        feed_.close();
        return;
      }
      send_profiles();
    }
    const Member& member = members_[ready_];
    if (profiles_.goes_on(member.script)) {
      return;
    }
    if (const std::string* reason = profiles_.failure(member.script)) {
      give_up(member, *reason);
    } else {
      send(member, false, static_cast<std::int32_t>(ready_));
      ++unfinished_;
    }
    ++ready_;
  }
}

void BatchRun::send(const Member& member, bool is_profile, std::int32_t priority) {
  const Task& task = tasks_[member.row];
  JobLine job;
  job.line = task.line;
  job.command = task.command(is_profile ? options_.profile_epochs : task.epochs, member.id);
  job.options.name = fmt::format("{}-{}", is_profile ? "profile" : "task", member.id);
  job.options.priority = priority;
  if (is_profile) {
    job.options.claim = Claim{ClaimSource::None, {}};
  }
  sent_[*job.options.name] = {member, is_profile};
  feed_.add(std::move(job));
}

void BatchRun::job_started(const JobEvent& job) {
  if (const Sent& sent = sent_.find(job.name)->second; !sent.is_profile) {
    note(journal_.row_started(sent.member.row));
  }
  reporter_.job_started(job);
}

void BatchRun::job_ended(const JobEvent& job, const JobEndEvent& end) {
  const auto found = sent_.find(job.name);
  JobEndEvent told = end;
  if (found->second.is_profile && told.note.empty()) {
    told.note = "profile";
  }
  reporter_.job_ended(job, told);
  if (end.retried) {
    return;
  }
  const Sent sent = std::move(found->second);
  sent_.erase(found);
  if (sent.is_profile) {
    profile_ended(sent.member, end);
  } else {
    task_ended(sent.member, end);
  }
  send_ready();
}

void BatchRun::profile_ended(const Member& member, const JobEndEvent& end) {
  if (end.outcome == Outcome::Cancelled) {
    return;  // nothing more is started anyway
  }
  if (end.outcome != Outcome::Succeeded) {
    profiles_.failed(member.script, reason_of(end));
    return;
  }
  profiles_.succeeded(member.script);
  note(journal_.script_profiled(fingerprint_of(member.script), end.peak_memory));
  if (end.peak_memory == Bytes{}) {
    reporter_.warning(fmt::format(
        "{} used no GPU memory that could be seen: each of its tasks gets a GPU to itself",
        tasks_[member.row].filename));
  }
}

void BatchRun::task_ended(const Member& member, const JobEndEvent& end) {
  --unfinished_;
  RunCounts& counts = summary_.counts;
  --counts.not_run;
  summary_.total_runtime += end.runtime;
  summary_.longest_runtime = std::max(summary_.longest_runtime, end.runtime);
  const std::string& fingerprint = tasks_[member.row].fingerprint;
  if (end.outcome == Outcome::Cancelled) {
    ++counts.cancelled;  // and will run again
  } else if (end.outcome == Outcome::Succeeded) {
    ++counts.succeeded;
    note(journal_.row_succeeded(member.row, fingerprint));
  } else {
    ++(end.outcome == Outcome::TimedOut ? counts.timed_out : counts.failed);
    note(journal_.row_failed(member.row, fingerprint, reason_of(end)));
  }
}

/// It will not run, because its profile failed.
void BatchRun::give_up(const Member& member, const std::string& reason) {
  const Task& task = tasks_[member.row];
  --summary_.counts.not_run;
  ++summary_.counts.failed;
  note(journal_.row_failed(member.row, task.fingerprint, "profile: " + reason));
  reporter_.warning(fmt::format("line {} is not run: the profile of {} failed ({})", task.line,
                                task.filename, reason));
}

/// Jobs are worth more than the record of them.
void BatchRun::note(const Result<void>& written) {
  if (!written && !std::exchange(summary_.log_failed, true)) {
    reporter_.warning(written.error().message + "; the batch goes on");
  }
}

void BatchRun::finished(const RunSummary& summary) {
  const RunSummary rows = std::exchange(summary_, summary);
  summary_.counts = rows.counts;
  summary_.counts.invalid = summary.counts.invalid;
  summary_.total_runtime = rows.total_runtime;
  summary_.longest_runtime = rows.longest_runtime;
  summary_.log_failed = summary.log_failed || rows.log_failed;
  reporter_.finished(summary_);
}

void BatchRun::job_output(JobId job, bool is_stderr, std::string_view lines) {
  reporter_.job_output(job, is_stderr, lines);
}

void BatchRun::device_taken(std::string_view gpu, const LockHolder& holder) {
  reporter_.device_taken(gpu, holder);
}

void BatchRun::interrupted(int level, std::uint64_t running) {
  reporter_.interrupted(level, running);
}

}  // namespace berth
