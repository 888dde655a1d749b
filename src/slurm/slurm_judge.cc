// What became of jobs that left no record of their end: killed with their script, lost with their
// node, cancelled before they started, or forgotten by Slurm.
#include <fmt/format.h>
#include <signal.h>
#include <sys/wait.h>

#include "slurm/slurm_target.h"
#include "slurm/slurm_words.h"

namespace berth {
namespace {

using std::chrono::seconds;

constexpr seconds kPatience(8);  // for a record that may still come

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

}  // namespace

/// `row`: what squeue knows of the job; nullptr: nothing.
void SlurmTarget::judge(Batch& batch, std::uint32_t index, const SqueueRow* row) {
  Element& element = batch.elements[index];
  if (element.ended) {
    return judge_signalled(batch, index, row);
  }
  if (row != nullptr && !is_over(row->state)) {
    element.missing.reset();
    return;
  }
  if (element.state == Element::State::Runs) {
    judge_started(batch, index, row);
  } else {
    judge_unstarted(batch, index, row);
  }
}

/// A signal ended the job: perhaps because Slurm or somebody who asked it wanted that.
void SlurmTarget::judge_signalled(Batch& batch, std::uint32_t index, const SqueueRow* row) {
  Element& element = batch.elements[index];
  const bool later = row != nullptr && !is_over(row->state) &&
                     Clock::now() - element.missing.value_or(Clock::now()) < kPatience;
  if (later) {
    return;  // Slurm has not noticed its end yet
  }
  AttemptEnd over = *element.ended;
  if (row != nullptr && is_over(row->state)) {
    over.cancelled_there = row->state.starts_with("CANCELLED") && !element.stop;
    over.note = end_in_words(row->state);
  }
  end(batch, index, std::move(over));
}

void SlurmTarget::judge_started(Batch& batch, std::uint32_t index, const SqueueRow* row) {
  Element& element = batch.elements[index];
  if (Clock::now() - element.missing.value_or(Clock::now()) < kPatience) {
    return;
  }
  AttemptEnd over;
  if (row != nullptr) {
    over = by_state(*row);
    over.cancelled_there = row->state.starts_with("CANCELLED") && !element.stop;
  } else {
    over.kind = AttemptEnd::Kind::Lost;
    over.note = "Slurm no longer knows it, and it left no record of its end";
    if (element.stop) {
      over.kind = AttemptEnd::Kind::Exited;
      over.signal = SIGKILL;
      over.note.clear();
    }
  }
  element.judged = true;
  files_.add([this, name = batch.name, folder = batch.folder, index,
              over = std::move(over)]() -> Chores::Finish {
    const bool free = lock_is_free(folder, index);
    return [this, name, index, over, free] {
      const auto found = batches_.find(name);
      if (found == batches_.end()) {
        return;
      }
      Element& late = found->second->elements[index];
      late.judged = false;
      if (late.state == Element::State::Over || late.ended) {
        return;
      }
      if (!free) {
        late.note = "Slurm has lost it, and its processes may still run on their node";
        return;
      }
      end(*found->second, index, over);
    };
  });
}

void SlurmTarget::judge_unstarted(Batch& batch, std::uint32_t index, const SqueueRow* row) {
  AttemptEnd over;
  over.kind = AttemptEnd::Kind::NotStarted;
  const int code = row != nullptr && WIFEXITED(row->status) ? WEXITSTATUS(row->status) : 0;
  const bool saved = batch.confirmed;
  if (row == nullptr && !saved) {
    // Slurm has lost what it acknowledged. Jobs that started all the same are claimed.
    if (batch.state == Batch::State::Sent && Clock::now() - batch.since > seconds(6)) {
      log(fmt::format("Slurm has lost submission {}: it is sent again", batch.id));
      batch.state = Batch::State::Ready;
      batch.retry = {};
      wake(Clock::now());
    }
    return;
  }
  constexpr int kMostSends = 5;
  const bool broke = row != nullptr && !row->state.starts_with("CANCELLED") && code != kNoFolder &&
                     code != kCannotClaim;
  if (broke && batch.state == Batch::State::Sent && batch.send < kMostSends) {
    // Its node or Slurm broke before the job's script began: another copy can do no harm.
    batch.state = Batch::State::Ready;
    batch.retry = {};
    return wake(Clock::now());
  }
  if (broke && batch.send < kMostSends) {
    return;  // it is sent again already
  }
  if (code == kNoFolder) {
    over.note = fmt::format("its node does not see the folder {}, which the cluster must share",
                            settings_.folder);
  } else if (code == kCannotClaim) {
    over.note = fmt::format("its node cannot write to {}: is it full?", settings_.folder);
    return end(batch, index, std::move(over));
  } else if (row == nullptr || row->state.starts_with("CANCELLED")) {
    over.kind = AttemptEnd::Kind::Withdrawn;
    over.cancelled_there = true;
    over.note = "somebody cancelled it in Slurm before it started";
  } else if (const std::string words = end_in_words(row->state); !words.empty()) {
    over.note = "Slurm did not start it: " + words;
  } else {
    over.note = "Slurm did not start it";
  }
  batch.elements[index].judged = true;
  files_.add([this, name = batch.name, folder = batch.folder, index,
              over = std::move(over)]() -> Chores::Finish {
    const bool never = withdraw(folder, index);  // it must not start later
    return [this, name, index, over, never] {
      const auto found = batches_.find(name);
      if (found == batches_.end()) {
        return;
      }
      found->second->elements[index].judged = false;
      if (never) {
        end(*found->second, index, over);
      }
    };
  });
}

}  // namespace berth
