// What the scheduler does about memory: claims that change, jobs that pass theirs, and jobs that
// ran out of it.
#include <algorithm>

#include "base/check.h"
#include "core/scheduler.h"

namespace berth {

void Scheduler::apply(const Reclaim& command) {
  Job* job = change(command.job);
  if (job == nullptr || !job->waiting()) {
    return;
  }
  Needs wanted = needs(*job);
  wanted.memory = command.memory;
  if (!wanted.away() && devices_.impossible(wanted)) {
    wanted.memory = Bytes{};  // no device has so much: alone it has the best chance
  }
  const bool competes = queue_.contains(*job);
  if (competes) {
    queue_.erase(*job);
    policy_->left(*job, needs(*job));
  }
  set_needs(*job, wanted);
  if (competes) {
    // In its old place: its rank stays.
    queue_.insert(*job);
    policy_->joined(*job, needs(*job));
  }
}

void Scheduler::apply(const JobUse& fact, Time now) {
  Job* job = change(fact.job);
  BERTH_CHECK(job != nullptr && job->lease() != nullptr);
  devices_.set_used(fact.job, fact.device, fact.memory);
  const auto* running = std::get_if<Running>(&job->state);
  if (config_.enforce_claims && fact.memory > needs(*job).memory && !needs(*job).alone() &&
      devices_[fact.device].leases.size() > 1 && running != nullptr &&
      running->stopping == Stopping::No) {
    ask_to_stop(*job, Stopping::Memory, now);
  }
}

/// Whether its present attempt is only to find out what it uses.
bool Scheduler::profiles(const Job& job) const {
  const Needs& wanted = needs(job);
  return wanted.profile > Duration{} && wanted.profile < job.limit && wanted.gpus > 0 &&
         wanted.claim == ClaimSource::Learned && wanted.alone() && job.traits().memory_retries == 0;
}

/// What was seen, and a tenth more; with nothing seen it goes on to have its devices alone.
void Scheduler::claim_profiled(Job& job, Bytes peak) {
  Needs wanted = needs(job);
  wanted.memory = Bytes{peak.count / 10 * 11};
  if (devices_.impossible(wanted)) {
    wanted.memory = Bytes{};
  }
  set_needs(job, wanted);
}

/// Lets a job that ran out of memory ask for more of it, or for the device to itself. False when it
/// had that.
bool Scheduler::make_room(Job& job, const MemoryEnd& end) {
  constexpr int kMostMemoryRetries = 8;
  constexpr int kMostAsBefore = 3;  // the fault of others may go on
  Needs wanted = needs(job);
  const bool own = end.blame.cause == MemoryCause::Own;
  if (job.traits().memory_retries >= kMostMemoryRetries || wanted.gpus == 0 || (own && wanted.alone())) {
    return false;
  }
  if (own) {
    // Half as much again, or a tenth more than it wanted; the second time the whole device.
    wanted.memory = job.traits().memory_retries > 0 ? Bytes{}
                                                    : std::max(Bytes{wanted.memory.count / 2 * 3},
                                                               Bytes{end.wanted.count / 10 * 11});
  }
  if (job.traits().memory_retries >= kMostAsBefore || wanted.memory == Bytes{} ||
      devices_.impossible(wanted)) {
    wanted.memory = Bytes{};
    wanted.share = 0;
  }
  set_needs(job, wanted);
  return true;
}

}  // namespace berth
