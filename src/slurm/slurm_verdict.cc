#include "slurm/slurm_verdict.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/wait.h>

#include "slurm/slurm_words.h"
#include "slurm/wrapper.h"

namespace berth {
namespace {

using std::chrono::seconds;
using Kind = SlurmVerdict::Kind;

constexpr seconds kPatience(8);  // for a record that may still come
constexpr seconds kLosesFor(6);  // an acknowledged submission may be lost in a crash
constexpr int kMostSends = 5;

bool is_patient(const BatchElement& element, SlurmTime now) {
  return now - element.missing.value_or(now) < kPatience;
}

/// The end of an attempt that started, in Slurm's words.
AttemptEnd by_state(const SqueueRow& row) {
  AttemptEnd over;
  over.note = end_in_words(row.state);
  if (row.state.starts_with("COMPLETED") || row.state.starts_with("FAILED")) {
    over.signal = WIFSIGNALED(row.status) ? WTERMSIG(row.status) : 0;
    over.code = WIFEXITED(row.status) ? WEXITSTATUS(row.status) : 0;
    over.note = "it left no record: Slurm told how it ended";
  } else if (row.state.starts_with("CANCELLED")) {
    over.signal = SIGKILL;
  } else if (row.state.starts_with("TIMEOUT") || row.state.starts_with("DEADLINE")) {
    over.signal = SIGTERM;
  } else if (row.state.starts_with("OUT_OF_MEMORY")) {
    over.signal = SIGKILL;
  } else {
    over.kind = AttemptEnd::Kind::Lost;
  }
  return over;
}

/// A signal ended the job: perhaps because Slurm or somebody who asked it wanted that.
SlurmVerdict judge_signalled(const BatchElement& element, const SqueueRow* row, SlurmTime now) {
  if (row != nullptr && !is_over(row->state) && is_patient(element, now)) {
    return {};  // Slurm has not noticed its end yet
  }
  SlurmVerdict verdict{Kind::Over, *element.ended};
  if (row != nullptr && is_over(row->state)) {
    verdict.end.cancelled_there = row->state.starts_with("CANCELLED") && !element.stop;
    verdict.end.note = end_in_words(row->state);
  }
  return verdict;
}

SlurmVerdict judge_started(const BatchElement& element, const SqueueRow* row, SlurmTime now) {
  if (is_patient(element, now)) {
    return {};
  }
  SlurmVerdict verdict{Kind::OverIfFree};
  if (row != nullptr) {
    verdict.end = by_state(*row);
    verdict.end.cancelled_there = row->state.starts_with("CANCELLED") && !element.stop;
  } else if (element.stop) {
    verdict.end.signal = SIGKILL;
  } else {
    verdict.end.kind = AttemptEnd::Kind::Lost;
    verdict.end.note = "Slurm no longer knows it, and it left no record of its end";
  }
  return verdict;
}

SlurmVerdict judge_unstarted(const SlurmBatch& batch, const SqueueRow* row, SlurmTime now,
                             const std::string& folder) {
  if (row == nullptr && !batch.confirmed) {
    // Slurm has lost what it acknowledged. Jobs that started all the same are claimed.
    const bool lost = batch.state == SlurmBatch::State::Sent && now - batch.since > kLosesFor;
    return {lost ? Kind::SendAgain : Kind::Later};
  }
  const bool cancelled = row == nullptr || row->state.starts_with("CANCELLED");
  const int code = row != nullptr && WIFEXITED(row->status) ? WEXITSTATUS(row->status) : 0;
  if (!cancelled && code != kNoFolder && code != kCannotClaim && batch.send < kMostSends) {
    // Its node or Slurm broke before the job's script began: another copy can do no harm.
    return {batch.state == SlurmBatch::State::Sent ? Kind::SendAgain : Kind::Later};
  }
  SlurmVerdict verdict{Kind::OverIfUnclaimed};
  AttemptEnd& over = verdict.end;
  over.kind = AttemptEnd::Kind::NotStarted;
  if (code == kNoFolder) {
    over.note =
        fmt::format("its node does not see the folder {}, which the cluster must share", folder);
  } else if (code == kCannotClaim) {
    verdict.kind = Kind::Over;
    over.note = fmt::format("its node cannot write to {}: is it full?", folder);
  } else if (cancelled) {
    over.kind = AttemptEnd::Kind::Withdrawn;
    over.cancelled_there = true;
    over.note = end_in_words(row == nullptr ? "CANCELLED" : row->state) + " before it started";
  } else if (const std::string words = end_in_words(row->state); !words.empty()) {
    over.note = "Slurm did not start it: " + words;
  } else {
    over.note = "Slurm did not start it";
  }
  return verdict;
}

}  // namespace

SlurmVerdict judge(const SlurmBatch& batch, std::uint32_t index, const SqueueRow* row,
                   SlurmTime now, const std::string& folder) {
  const BatchElement& element = batch.elements[index];
  if (element.ended) {
    return judge_signalled(element, row, now);
  }
  if (row != nullptr && !is_over(row->state)) {
    return {Kind::InQueue};
  }
  return element.state == BatchElement::State::Runs ? judge_started(element, row, now)
                                                    : judge_unstarted(batch, row, now, folder);
}

}  // namespace berth
