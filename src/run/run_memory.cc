// Memory in a run: what jobs claim, what they turn out to use, and what follows from it.
#include <fmt/format.h>

#include "run/run.h"

namespace berth {

Recipe Run::recipe(const Record& record) const {
  return options_.recipe(record.project(), record.command);
}

bool Run::complains_of_memory(const Exit& exit) {
  return (exit.code != 0 || exit.signal != 0) && exit.start_error == 0 &&
         find_memory_complaint(outputs_.tail(exit.job)).has_value();
}

/// Whether an attempt failed because it got no more memory; notes whose fault that was.
std::optional<MemoryEnd> Run::judge_memory(const Exit& exit) {
  const Job& job = *scheduler_->find(exit.job);
  const auto* running = std::get_if<Running>(&job.state);
  const bool profiled = running != nullptr && running->stopping == Stopping::Profile;
  if ((exit.code == 0 && exit.signal == 0 && !profiled) || exit.start_error != 0) {
    return std::nullopt;
  }
  std::optional<MemoryEnd> end = memory_.judge(job, outputs_.tail(exit.job), scheduler_->devices());
  if (!end) {
    return end;
  }
  if (profiled) {
    if (peaks_ != nullptr && end->wanted > Bytes{}) {
      peaks_->add(recipe(*records_.find(exit.job)), end->wanted);
    }
    return end;
  }
  active_.at(exit.job.value).note = describe(*end);
  const Record* charged = end->blame.cause == MemoryCause::Own ? records_.find(exit.job)
                          : end->blame.cause == MemoryCause::Neighbour
                              ? records_.find(end->blame.offender)
                              : nullptr;
  if (charged != nullptr && peaks_ != nullptr) {
    learner_.learn_at_least(recipe(*charged), end->blame.cause == MemoryCause::Own
                                                  ? end->wanted
                                                  : memory_.peak(end->blame.offender));
  }
  return end;
}

/// Before the scheduler is told of the end: those that wait are to claim what it teaches when it
/// decides who comes next.
void Run::learn_peak(const Exit& exit) {
  const Bytes peak = memory_.peak(exit.job);
  if (peaks_ != nullptr && exit.code == 0 && exit.signal == 0 && exit.start_error == 0 &&
      peak > Bytes{}) {
    peaks_->add(recipe(*records_.find(exit.job)), peak);
  }
}

void Run::pass_on_claims() {
  while (learner_.behind()) {
    constexpr std::size_t kAtOnce = 10'000;
    for (const Reclaim& change : learner_.reclaims(*scheduler_, kAtOnce)) {
      scheduler_->apply(change);
    }
  }
}

}  // namespace berth
