#include "drive/told_scheduler.h"

namespace berth {

ToldScheduler::ToldScheduler(std::unique_ptr<Policy> policy, const Restarted& begun, Time at,
                             Journal journal)
    : scheduler_(std::move(policy), begun.config),
      rows_(std::move(journal)),
      policy_(begun.policy) {
  note(begun, at);
}

Result<JobId> ToldScheduler::tell(const Submit& command, Time at) {
  Result<JobId> taken = scheduler_.apply(command, at);
  if (taken) {
    news_ = true;
    if (rows_.writes()) {
      rows_.add(Submit{command.spec, *taken, command.count, true}, at);
    }
  }
  return taken;
}

void ToldScheduler::tell(const Restore& command, Time at) {
  scheduler_.apply(command, at);
  news_ = true;
  if (rows_.writes()) {
    rows_.add(Restored{command}, at);
  }
}

Result<void> ToldScheduler::tell(const SchedulerBooks& books, Time) {
  return scheduler_.apply(books);
}

DeviceId ToldScheduler::add_device(DeviceSpec spec, Time at) {
  note(DeviceAdded{spec}, at);
  return scheduler_.add_device(std::move(spec));
}

void ToldScheduler::set_policy(std::unique_ptr<Policy> policy, const PolicyChanged& change,
                               Time at) {
  scheduler_.set_policy(std::move(policy), change.placement);
  policy_ = change.policy;
  note(change, at);
  if (checkpoint_) {
    begin_checkpoint(at);
  }
}

const std::vector<Action>& ToldScheduler::step(Time at) {
  note(Stepped{}, at);
  news_ = false;
  return scheduler_.step(at);
}

void ToldScheduler::begin_checkpoint(Time at) {
  checkpoint_.reset();
  checkpoint_.emplace(scheduler_, rows_, at);
}

bool ToldScheduler::continue_checkpoint(std::size_t most, Time at) {
  if (checkpoint_ && checkpoint_->go_on(most, policy_, at)) {
    checkpoint_.reset();
  }
  return !checkpoint_;
}

}  // namespace berth
