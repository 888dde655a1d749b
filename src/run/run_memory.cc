// Memory in a run: what jobs claim, what they turn out to use, and what follows from it.
#include <fmt/format.h>

#include "run/run.h"

namespace berth {

Recipe Run::recipe(const Record& record) const {
  return options_.recipe(record.project(), record.command);
}

/// Before it is submitted: what is known of such jobs.
void Run::claim_memory(JobSpec& spec, const JobLine& line) const {
  Needs& needs = spec.needs;
  if (peaks_ == nullptr || needs.claim != ClaimSource::Learned || needs.gpus == 0) {
    return;
  }
  needs.memory = learner_.claim(options_.recipe(line.options.project.value_or(""), line.command));
  if (needs.memory > Bytes{} && scheduler_->devices().impossible(needs)) {
    needs.memory = Bytes{};
  }
}

/// Whether an attempt failed because it got no more memory; notes whose fault that was.
std::optional<MemoryEnd> Run::judge_memory(const Exit& exit) {
  if ((exit.code == 0 && exit.signal == 0) || exit.start_error != 0) {
    return std::nullopt;
  }
  Active& active = active_.at(exit.job.value);
  const DeviceTable& devices = scheduler_->devices();
  std::optional<MemoryEnd> end =
      memory_.judge(exit.job, active.devices, outputs_.tail(exit.job), devices);
  if (!end) {
    return end;
  }
  active.note = describe(*end);
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

/// A job has reached its end.
void Run::learn_from(JobId id, const Record& record, Outcome outcome) {
  const Bytes peak = memory_.peak(id);
  if (peaks_ != nullptr && outcome == Outcome::Succeeded && peak > Bytes{}) {
    peaks_->add(recipe(record), peak);
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
