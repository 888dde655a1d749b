// Jobs through MPS: they start when the control daemon of their device and user can be reached.
#include <fmt/format.h>
#include <signal.h>

#include <cstdio>

#include "daemon/daemon.h"

namespace berth {

/// Whose MPS a job asks for nobody but the daemon knows.
Result<void> Daemon::settle_mps(Needs& needs, uid_t user) const {
  if (needs.mps == 0 || needs.gpus == 0) {
    needs.mps = 0;
    needs.thread_percentage = 0;
    return {};
  }
  needs.mps = mps_of(user);
  return mps_->check_available();
}

/// False when the launch is kept for later, or has failed.
bool Daemon::await_mps(const ShimLaunch& launch) {
  const Job* job = scheduler_->find(launch.job);
  if (job == nullptr || job->lease() == nullptr || scheduler_->needs(*job).mps == 0) {
    return true;
  }
  const DeviceInfo& device = devices_.list()[job->lease()->front().value];
  const Result<bool> ready = mps_->use(launch.job, device, scheduler_->needs(*job).mps - mps_of(0));
  if (!ready) {
    end_unstarted(launch.job, launch.attempt, {launch.job, 0, 0, false}, ready.error().message);
    return false;
  }
  if (!*ready) {
    awaiting_mps_.emplace(launch.job, launch);
  }
  return *ready;
}

/// A job of the daemon before goes on, with the control daemon that it has.
void Daemon::take_up_mps(JobId running) {
  const Job& job = *scheduler_->find(running);
  const Needs& needs = scheduler_->needs(job);
  if (needs.mps == 0 || job.lease()->empty()) {
    return;
  }
  const DeviceInfo& device = devices_.list()[job.lease()->front().value];
  if (const Result<bool> used = mps_->use(running, device, needs.mps - mps_of(0)); !used) {
    log_.write("job {}: {}", running.value, used.error().message);
  }
}

void Daemon::take_mps_events() {
  for (const MpsEvent& event : mps_->take_events()) {
    if (!event.text.empty()) {
      log_.write(event.text);
    }
    for (const JobId job : event.jobs) {
      if (const auto active = active_.find(job);
          event.kind == MpsEvent::Kind::NotUsed && active != active_.end()) {
        active->second.warning = event.text;
        events_->job_changed(job);
      }
      const auto awaiting = awaiting_mps_.extract(job);
      if (!awaiting) {
        continue;
      }
      const ShimLaunch& wanted = awaiting.mapped();
      if (event.kind == MpsEvent::Kind::Failed) {
        end_unstarted(job, wanted.attempt, {job, 0, 0, false}, event.text);
      } else {
        launch(wanted);
      }
    }
  }
}

/// Somebody wants it to end, and no process is there to be told.
void Daemon::drop_awaiting_mps(JobId job) {
  if (const auto awaiting = awaiting_mps_.extract(job)) {
    end_unstarted(job, awaiting.mapped().attempt, {job, 0, SIGTERM}, "");
  }
}

/// In a turn of its own: the present one has been committed.
void Daemon::end_unstarted(JobId job, std::uint16_t attempt, const JobExited& exited,
                           std::string message) {
  loop_.post([this, job, attempt, exited, message = std::move(message)] {
    const Job* known = scheduler_->find(job);
    if (known == nullptr || known->lease() == nullptr || known->attempt != attempt) {
      return;
    }
    active_[job].message = message;
    const Time at = now();
    journal(exited, at);
    scheduler_->apply(exited, at);
  });
}

}  // namespace berth
