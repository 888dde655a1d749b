#include "run/run_turns.h"

namespace berth {

void use_turns(RunOptions& options, Duration slice) {
  options.policy = "fifo";
  options.slice = slice;
  if (options.defaults.needs.share == 0) {
    options.defaults.needs.share = kWholeShare / kTurnsPerDevice;
  }
}

RunTurns::RunTurns(const RunOptions& options, Runner& runner) : runner_(runner) {
  if (options.slice != kForever) {
    slices_.emplace(options.slice);
  }
}

void RunTurns::started(const StartJob& start, Time at) {
  if (slices_) {
    slices_->started(start.job, start.devices, at);
  }
}

void RunTurns::ended(JobId job) {
  if (slices_) {
    slices_->ended(job);
  }
}

void RunTurns::wake(JobId job) {
  if (slices_ && slices_->is_stopped(job)) {
    runner_.pause(job, false);
    slices_->ended(job);  // it has no more turns to wait for
  }
}

void RunTurns::take(Time at, const std::function<void(JobId, bool stopped)>& seen) {
  if (!slices_) {
    return;
  }
  for (const TimeSlices::Change& change : slices_->turns(at)) {
    runner_.pause(change.job, !change.runs);
    seen(change.job, !change.runs);
  }
}

}  // namespace berth
