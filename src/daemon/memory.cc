// Memory: what jobs claim, what they turn out to use, and what follows from it.
#include <utility>

#include "daemon/daemon.h"
#include "daemon/log_reader.h"

namespace berth {
namespace {

/// Waiting jobs that are looked at in one turn, when more is known about their recipe.
constexpr std::size_t kClaimsAtOnce = 1000;

}  // namespace

void Daemon::open_peaks() {
  peaks_ = std::make_unique<PeakFile>(
      paths_.state + "/peaks",
      [this](const Recipe& recipe, Bytes peak) { learner_.learn(recipe, peak); });
}

void Daemon::await_claim(JobId first, std::uint32_t count, const Recipe& recipe) {
  for (std::uint32_t i = 0; i < count; ++i) {
    learner_.job_waits(JobId{first.value + i}, recipe, *scheduler_);
  }
}

std::string Daemon::last_words(const Active& active) {
  std::string output = read_tail(active.stdout_path, active.user, kComplaintTail);
  if (!active.stderr_path.empty()) {
    output += read_tail(active.stderr_path, active.user, kComplaintTail);
  }
  return output;
}

bool Daemon::complains_of_memory(const AttemptEnd& end, const Active& active) {
  return end.kind == AttemptEnd::Kind::Exited && (end.code != 0 || end.signal != 0) &&
         active.gpus > 0 && find_memory_complaint(last_words(active)).has_value();
}

/// A reading has come since they ended: whoever took their memory still has it.
void Daemon::settle_complaints(Time at) {
  for (const AttemptEnd& end : std::exchange(complaints_, {})) {
    const Job* job = scheduler_->find(end.job);
    if (job != nullptr && job->lease() != nullptr && job->attempt == end.attempt) {
      settle_end(*job, end, at);
    }
  }
}

/// Whether an attempt failed because it got no more memory; notes whose fault that was.
std::optional<MemoryEnd> Daemon::judge_memory(const Job& job, const AttemptEnd& end,
                                              Active& active) {
  const auto* running = std::get_if<Running>(&job.state);
  const bool profiled = running != nullptr && running->stopping == Stopping::Profile;
  const bool failed = end.code != 0 || end.signal != 0;
  if (end.kind != AttemptEnd::Kind::Exited || active.gpus == 0 || (!failed && !profiled)) {
    return std::nullopt;
  }
  const std::optional<MemoryEnd> found =
      memory_.judge(job, last_words(active), scheduler_->devices());
  if (!found) {
    return found;
  }
  if (profiled) {
    if (found->wanted > Bytes{}) {
      peaks_->add(active.recipe, found->wanted);
    }
    return found;
  }
  active.message = describe(*found);
  if (found->blame.cause == MemoryCause::Own) {
    learner_.learn_at_least(active.recipe, found->wanted);
  } else if (const auto offender = active_.find(found->blame.offender); offender != active_.end()) {
    learner_.learn_at_least(offender->second.recipe, memory_.peak(found->blame.offender));
  }
  return found;
}

/// Before the scheduler is told of the end: those that wait are to claim what it teaches when it
/// decides who comes next.
void Daemon::learn_peak(const AttemptEnd& end, const Active& active) {
  const Bytes peak = memory_.peak(end.job);
  if (end.kind == AttemptEnd::Kind::Exited && end.code == 0 && end.signal == 0 && peak > Bytes{}) {
    peaks_->add(active.recipe, peak);
  }
}

/// Some at a time, so that others are served meanwhile.
void Daemon::pass_on_claims(Time at) {
  if (!learner_.behind()) {
    return;
  }
  for (const Reclaim& change : learner_.reclaims(*scheduler_, kClaimsAtOnce)) {
    journal(change, at);
    scheduler_->apply(change);
  }
  if (learner_.behind()) {
    loop_.post([] {});
  }
}

}  // namespace berth
