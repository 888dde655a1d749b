#include "slurm/stopper.h"

#include <fmt/format.h>

namespace berth {

void Stopper::stop(JobId job, StopSignal signal) {
  const BatchPlace place = books_.find(job);
  if (!place || place.element().is_over()) {
    return;
  }
  BatchElement& element = place.element();
  element.stop = signal;
  element.told_to_stop = means_.alarm.now();
  if (element.state == BatchElement::State::Runs) {
    means_.files.mark_stop(place.batch->folder, place.index);
    cancels_.add(*place.batch, place.index,
                 signal == StopSignal::Terminate ? "--batch --signal=TERM" : "");
    return means_.alarm.wake();
  }
  if (!element.withdrawing && place.batch->state != SlurmBatch::State::Writing) {
    withdraw_waiting(place);  // else it is done, or will be when the folder is there
  }
}

void Stopper::withdraw_waiting(const BatchPlace& place) {
  place.element().withdrawing = true;
  means_.files.withdraw(place.batch->folder, place.index,
                        [this, name = place.batch->name, index = place.index](bool withdrawn) {
                          SlurmBatch* const batch = books_.find(name);
                          if (batch == nullptr) {
                            return;
                          }
                          batch->elements[index].withdrawing = false;
                          cancels_.add(*batch, index);
                          if (withdrawn) {
                            AttemptEnd over;
                            over.kind = AttemptEnd::Kind::Withdrawn;
                            books_.end(*batch, index, std::move(over));
                          }
                          means_.alarm.wake();
                        });
}

bool Stopper::take_back(JobId job) {
  const BatchPlace place = books_.find(job);
  if (!place || place.element().state != BatchElement::State::Waits ||
      place.element().withdrawing || place.batch->state == SlurmBatch::State::Writing ||
      !withdraw(place.batch->folder, place.index)) {
    return false;
  }
  cancels_.add(*place.batch, place.index);
  means_.alarm.wake();
  books_.forget(job, place.element().attempt);
  return true;
}

void Stopper::pause(JobId job, bool stopped) {
  signal_running(job, stopped ? "--full --signal=STOP" : "--full --signal=CONT");
}

void Stopper::send(JobId job, int signal) {
  signal_running(job, fmt::format("--batch --signal={}", signal));
}

void Stopper::signal_running(JobId job, const std::string& how) {
  const BatchPlace place = books_.find(job);
  if (place && place.element().state == BatchElement::State::Runs) {
    cancels_.add(*place.batch, place.index, how);
    means_.alarm.wake();
  }
}

}  // namespace berth
