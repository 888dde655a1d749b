#include "drive/told_scheduler.h"

namespace berth {
namespace {

bool is_plain(const Restored& entry) {
  return !entry.running && entry.attempt == 0 && entry.not_before == Time{} && !entry.claim;
}

/// Whether `next` goes on where `row` ends; then `row` has both.
bool join(Restored& row, const Restored& next) {
  const bool follows = is_plain(row) && is_plain(next) && row.held == next.held &&
                       row.first.value + row.count == next.first.value;
  row.count += follows ? next.count : 0;
  return follows;
}

bool join(Submitted& row, const Submitted& next) {
  const bool follows = row.first.value + row.count == next.first.value;
  row.count += follows ? next.count : 0;
  return follows;
}

/// Whether the two are of one kind and one goes on where the other ends.
bool join(JournalInput& row, const JournalInput& next) {
  if (auto* submitted = std::get_if<Submitted>(&row)) {
    const auto* more = std::get_if<Submitted>(&next);
    return more != nullptr && join(*submitted, *more);
  }
  auto* restored = std::get_if<Restored>(&row);
  const auto* more = std::get_if<Restored>(&next);
  return restored != nullptr && more != nullptr && join(*restored, *more);
}

bool may_grow(const JournalInput& input) {
  return std::holds_alternative<Submitted>(input) || std::holds_alternative<Restored>(input);
}

Restored entry_for(const Restore& command) {
  Restored entry{
      command.id,      1, command.spec.held, command.spec.begin, command.attempt, command.running,
      command.starting};
  if (command.memory_retries > 0) {
    entry.claim = command.spec.needs.memory;
    entry.memory_retries = command.memory_retries;
  }
  return entry;
}

}  // namespace

ToldScheduler::ToldScheduler(std::unique_ptr<Policy> policy, const Restarted& begun, Time at,
                             Journal journal)
    : scheduler_(std::move(policy), begun.config), journal_(std::move(journal)) {
  note(begun, at);
}

Result<JobId> ToldScheduler::tell(const Submit& command, Time at) {
  Result<JobId> taken = scheduler_.apply(command, at);
  if (taken) {
    note(Submitted{*taken, command.count}, at);
  }
  return taken;
}

void ToldScheduler::tell(const Restore& command, Time at) {
  scheduler_.apply(command, at);
  note(entry_for(command), at);
}

Result<void> ToldScheduler::tell(const Edit& command, const JobSpec& before, Time at) {
  Result<void> done = scheduler_.apply(command, at);
  if (done) {
    note(Edited{command.job, before, command.spec}, at);
  }
  return done;
}

DeviceId ToldScheduler::add_device(DeviceSpec spec, Time at) {
  note(DeviceAdded{spec}, at);
  return scheduler_.add_device(std::move(spec));
}

void ToldScheduler::set_policy(std::unique_ptr<Policy> policy, const PolicyChanged& change,
                               Time at) {
  scheduler_.set_policy(std::move(policy), change.placement);
  note(change, at);
}

const std::vector<Action>& ToldScheduler::step(Time at) {
  note(Stepped{}, at);
  news_ = false;
  return scheduler_.step(at);
}

void ToldScheduler::note(JournalInput input, Time at) {
  news_ = true;
  if (!journal_) {
    return;
  }
  if (row_ && at == row_time_ && join(*row_, input)) {
    return;
  }
  write_row();
  if (may_grow(input)) {
    row_ = std::move(input);
    row_time_ = at;
  } else {
    journal_(input, at);
  }
}

void ToldScheduler::write_row() {
  if (row_) {
    journal_(*row_, row_time_);
    row_.reset();
  }
}

}  // namespace berth
