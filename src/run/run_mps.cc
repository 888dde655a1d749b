// Jobs through MPS: they start when the control daemon of their device can be reached.
#include <fmt/format.h>

#include <utility>

#include "base/paths.h"
#include "run/run.h"

namespace berth {

Result<void> Run::open_mps() {
  if (mps_ != nullptr) {
    return {};
  }
  const Result<Paths> paths = find_paths();
  if (!paths) {
    return Failure(paths.error());
  }
  // The mark lets them be ended with the jobs if this process is killed.
  auto mps =
      std::make_unique<Mps>(Mps::Owner{"run " + paths->state, "BERTH_RUN=" + runner_.token()});
  if (Result<void> available = mps->check_available(); !available) {
    return available;
  }
  mps_ = std::move(mps);
  poller_.add(mps_->event_fd(), [this] { take_mps_events(); });
  return {};
}

/// False when the job must wait for its control daemon: then it is started again later. A problem
/// is for whoever starts the job.
bool Run::await_mps(const StartJob& action, Result<void>& problem) {
  const Needs& needs = scheduler_->needs(*scheduler_->find(action.job));
  if (needs.mps == 0) {
    return true;
  }
  if (const auto failed = mps_problems_.extract(action.job)) {
    problem = fail(ErrorCode::Unavailable, failed.mapped());
    return true;
  }
  const Result<bool> ready =
      mps_->use(action.job, devices_.list()[action.devices.front().value], ::geteuid());
  if (!ready) {
    problem = Failure(ready.error());
    return true;
  }
  if (!*ready) {
    awaiting_mps_.emplace(action.job, action);
  }
  return *ready;
}

void Run::take_mps_events() {
  for (const MpsEvent& event : mps_->take_events()) {
    if (!event.text.empty() && event.kind != MpsEvent::Kind::Failed) {
      observer_.warning(event.text);
    }
    for (const JobId job : event.jobs) {
      const auto awaiting = awaiting_mps_.extract(job);
      if (!awaiting) {
        continue;
      }
      if (event.kind == MpsEvent::Kind::Failed) {
        mps_problems_[job] = event.text;
      }
      start(awaiting.mapped(), now());
    }
  }
}

/// Nothing more is to start: they wait on, as if they had not been given devices.
void Run::drop_awaiting_mps(Time at) {
  for (const auto& [job, action] : std::exchange(awaiting_mps_, {})) {
    mps_->release(job);
    scheduler_->apply(StartRefused{job, {}}, at);
  }
}

}  // namespace berth
