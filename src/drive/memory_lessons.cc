#include "drive/memory_lessons.h"

namespace berth {
namespace {

/// It ran only to see what it uses, and has been asked to end.
bool profiled(const Job& job) {
  const auto* running = std::get_if<Running>(&job.state);
  return running != nullptr && running->stopping == Stopping::Profile;
}

bool failed(const AttemptOver& over) {
  return over.kind == AttemptOver::Kind::Exited && (over.code != 0 || over.signal != 0);
}

}  // namespace

MemoryLessons::MemoryLessons(ToldScheduler& scheduler, LengthLessons& lengths,
                             const std::string& peaks, double risk)
    : scheduler_(scheduler), lengths_(lengths), learner_(risk) {
  if (!peaks.empty()) {
    peaks_ =
        std::make_unique<PeakFile>(peaks, PeakFile::Reader{[this](const PastRun& run) {
                                                             learner_.learn(run.recipe, run.peak);
                                                             lengths_.learn(run);
                                                           },
                                                           [this] {
                                                             learner_.forget();
                                                             lengths_.forget();
                                                           }});
  }
}

void MemoryLessons::claim(Needs& needs, const Recipe& recipe) const {
  learner_.claim(needs, recipe, scheduler_->devices());
}

void MemoryLessons::jobs_wait(JobId first, std::uint32_t count, const Recipe& recipe) {
  for (std::uint32_t i = 0; i < count; ++i) {
    learner_.job_waits(JobId{first.value + i}, recipe, scheduler_.get());
  }
}

void MemoryLessons::pass_on_claims(std::size_t most, Time at) {
  if (!learner_.behind()) {
    return;
  }
  for (const Reclaim& change : learner_.reclaims(scheduler_.get(), most)) {
    scheduler_.tell(change, at);
  }
}

void MemoryLessons::take(const Telemetry::Reading& reading, Time at) {
  for (const JobUse& use : watch_.take(reading, scheduler_->devices())) {
    scheduler_.tell(use, at);
  }
  if (peaks_ != nullptr) {
    peaks_->read();
  }
}

bool MemoryLessons::asks_for_output(const Job& job, const AttemptOver& over) {
  return over.kind == AttemptOver::Kind::Exited && job.lease() != nullptr &&
         !job.lease()->empty() && (failed(over) || profiled(job));
}

bool MemoryLessons::complains(const Job& job, const AttemptOver& over) {
  return failed(over) && asks_for_output(job, over) &&
         find_memory_complaint(over.output_end).has_value();
}

std::optional<MemoryEnd> MemoryLessons::judge(const Job& job, const AttemptOver& over,
                                              Attempts& attempts) {
  if (!asks_for_output(job, over)) {
    return std::nullopt;
  }
  const std::optional<MemoryEnd> found = watch_.judge(job, over.output_end, scheduler_->devices());
  if (!found) {
    return found;
  }
  DrivenAttempt& attempt = attempts.at(over.job);
  if (profiled(job)) {
    if (peaks_ != nullptr && found->wanted > Bytes{}) {
      peaks_->add({attempt.facts.recipe, found->wanted, {}});
    }
    return found;
  }
  attempt.note = describe(*found);
  const auto offender = attempts.find(found->blame.offender);
  if (peaks_ != nullptr && found->blame.cause == MemoryCause::Own) {
    learner_.learn_at_least(attempt.facts.recipe, found->wanted);
  } else if (peaks_ != nullptr && offender != attempts.end()) {
    learner_.learn_at_least(offender->second.facts.recipe, watch_.peak(offender->first));
  }
  return found;
}

void MemoryLessons::learn_run(const AttemptOver& over, const DrivenAttempt& attempt, Time at) {
  if (over.kind != AttemptOver::Kind::Exited || failed(over) || attempt.facts.recipe.key.empty()) {
    return;
  }
  PastRun run{attempt.facts.recipe, watch_.peak(over.job), {}, attempt.facts.user};
  const Job& job = *scheduler_->find(over.job);
  if (const auto* running = std::get_if<Running>(&job.state);
      running != nullptr && running->stopping == Stopping::No && at >= running->since) {
    run.length = at - running->since;
  }
  if (peaks_ == nullptr) {
    lengths_.learn(run);
  } else if (run.peak > Bytes{} || run.length) {
    peaks_->add(run);
  }
}

}  // namespace berth
