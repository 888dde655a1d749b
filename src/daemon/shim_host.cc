// Starting and stopping attempts.
#include "daemon/shim_host.h"

#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "api/messages/events.h"
#include "base/failpoint.h"
#include "core/recipe.h"
#include "daemon/cluster_launch.h"
#include "daemon/output_path.h"
#include "daemon/shim_launch.h"

namespace berth {

void ShimHost::use(Desk& desk, HostListeners listeners) {
  desk_ = &desk;
  listeners_ = std::move(listeners);
}

void ShimHost::watch(int fd, std::string_view what, std::function<void()> readable) {
  parts_.loop.watch(fd, [this, what, readable = std::move(readable)] {
    const Watchdog::Mark mark = parts_.watchdog.mark(what);
    readable();
  });
}

// --- starts

AttemptFacts ShimHost::begin(const StartJob& start, Time at) {
  StoredAttempt stored;
  stored.job = start.job;
  stored.attempt = start.attempt;
  stored.begun = at;
  stored.devices = parts_.devices.names(start.devices);
  const Result<JobRecord> job = desk_->store.jobs().record(start.job);
  if (!job) {
    // The disk or the file is at fault. An attempt must be on record to end.
    desk_->check(desk_->store.attempts().begin(std::move(stored)));
    AttemptOver over{start.job};
    over.kind = AttemptOver::Kind::NotStarted;
    over.note = fmt::format("its record cannot be read: {}", job.error().message);
    end_unstarted(start.job, start.attempt, std::move(over));
    AttemptFacts facts;
    facts.can_start = false;
    return facts;
  }
  const JobDescription& description = job->description;
  stored.stdout_path = description.output.empty()
                           ? parts_.files.logs.path_for(description.user, start.job, start.attempt)
                           : output_path(description.output, job->id, description);
  stored.stderr_path = output_path(description.error, job->id, description);
  Attempt& attempt = attempts_[start.job];
  attempt = Attempt{};
  attempt.stdout_path = stored.stdout_path;
  attempt.stderr_path = stored.stderr_path;
  attempt.warning_signal = description.warning_signal;
  const Result<ShimLaunch> launch = make_launch(start, *job, stored);
  AttemptFacts facts{recipe_of(description.project, description.command), description.user};
  if (launch) {
    attempt.launch = *launch;
  } else {
    AttemptOver over{start.job};
    over.kind = AttemptOver::Kind::NotStarted;
    over.note = launch.error().message;
    end_unstarted(start.job, start.attempt, std::move(over));
    facts.can_start = false;
  }
  desk_->check(desk_->store.attempts().begin(std::move(stored)));
  desk_->events.job_changed(start.job);
  listeners_.attempt_began(start.job, at);
  return facts;
}

/// For a shim of this machine, or for a cluster.
Result<ShimLaunch> ShimHost::make_launch(const StartJob& start, const JobRecord& job,
                                         const StoredAttempt& attempt) const {
  JobSpec spec = job.description.spec;
  spec.needs = desk_->scheduler().needs(*desk_->scheduler().find(start.job));
  if (!spec.needs.away()) {
    return shim_launch(start, job, attempt, desk_->driver, parts_.devices, parts_.mark);
  }
  Result<std::vector<std::string>> options = parts_.cluster_options(spec);
  if (!options) {
    return Failure(options.error());
  }
  return cluster_launch(spec, job, attempt, std::move(*options), parts_.mark);
}

void ShimHost::launch(const StartJob& start, Time) {
  desk_->turns.after_write([this, job = start.job] { start_shim(job); });
}

void ShimHost::start_shim(JobId job) {
  const auto found = attempts_.find(job);
  if (found == attempts_.end() || !found->second.launch ||
      !parts_.files.room.is_there_for(*found->second.launch)) {
    return;
  }
  const ShimLaunch launch = std::move(*found->second.launch);
  found->second.launch.reset();
  (void)BERTH_FAILPOINT("daemon.before_start");
  if (const Result<void> started = parts_.runner.start(launch); !started) {
    parts_.log.write("job {}: {}", job.value, started.error().message);
    AttemptEnd end;
    end.job = job;
    end.attempt = launch.attempt;
    end.kind = AttemptEnd::Kind::NotStarted;
    end.start_error = EAGAIN;
    parts_.loop.post([this, end] { take_end(end, now()); });
  }
  (void)BERTH_FAILPOINT("daemon.after_start");
}

void ShimHost::adopt(const StoredAttempt& attempt, const JobRecord& job,
                     const AttemptStart* running) {
  Attempt& known = attempts_[job.id];
  known.stdout_path = attempt.stdout_path;
  known.stderr_path = attempt.stderr_path;
  known.warning_signal = job.description.warning_signal;
  DrivenAttempt driven;
  driven.number = job.attempt;
  driven.devices = *desk_->scheduler().find(job.id)->lease();
  driven.facts.recipe = recipe_of(job.description.project, job.description.command);
  driven.facts.user = job.description.user;
  if (running != nullptr) {
    driven.pid = running->pid;
    driven.cgroup = running->cgroup;
  }
  std::vector<Bytes> peaks;
  if (const std::optional<UsageLog> used = listeners_.used_before(job.id, job.attempt)) {
    driven.energy = used->energy();
    peaks = used->peaks();
  }
  desk_->driver.attempts().adopt(job.id, std::move(driven), peaks);
}

void ShimHost::start_again(const StartJob& start, const StoredAttempt& attempt,
                           const JobRecord& job, Time at) {
  Result<ShimLaunch> launch = make_launch(start, job, attempt);
  if (!launch) {
    AttemptOver over{start.job};
    over.kind = AttemptOver::Kind::NotStarted;
    over.note = launch.error().message;
    return end_unstarted(start.job, start.attempt, std::move(over));
  }
  attempts_[start.job].launch = std::move(*launch);
  desk_->driver.attempts().launch(start, at);
}

// --- what running attempts are told

void ShimHost::stop(const StopJob& stop) {
  const Job& job = *desk_->scheduler().find(stop.job);
  const auto* starting = std::get_if<Starting>(&job.state);
  const auto* running = std::get_if<Running>(&job.state);
  const Stopping why = starting != nullptr  ? starting->stopping
                       : running != nullptr ? running->stopping
                                            : Stopping::No;
  if (why != Stopping::No) {
    desk_->check(desk_->store.attempts().set_stopping(stop.job, why));
  }
  desk_->turns.after_commit([this, stop, attempt = job.attempt] {
    (void)BERTH_FAILPOINT("daemon.before_stop");
    if (parts_.files.room.drop(stop.job)) {
      // No process is there to be told.
      AttemptOver over{stop.job};
      over.signal = SIGTERM;
      end_unstarted(stop.job, attempt, std::move(over));
    }
    parts_.runner.stop(stop.job,
                       stop.how == StopJob::How::Ask ? StopSignal::Terminate : StopSignal::Kill);
    // One that is paused would not hear it.
    parts_.runner.pause(stop.job, false);
  });
}

void ShimHost::warn(JobId job) {
  const auto attempt = attempts_.find(job);
  if (attempt != attempts_.end() && attempt->second.warning_signal != 0) {
    desk_->turns.after_commit(
        [this, job, signal = attempt->second.warning_signal] { parts_.runner.send(job, signal); });
  }
}

// --- devices

void ShimHost::device_changed(DeviceId device, DeviceHealth) {
  const DeviceSlot& slot = desk_->scheduler().devices()[device];
  parts_.log.write("device {} is {}", slot.spec.name, health_name(slot.health));
  desk_->events.announce(
      "device", to_json(DeviceEvent{slot.spec.name, std::string(health_name(slot.health))}));
}

void ShimHost::reading_taken(const Telemetry::Reading& reading, Time at) {
  listeners_.reading(reading, at);
}

void ShimHost::blocked(const DeviceLocks::Obstacle& obstacle) {
  parts_.log.write("jobs wait: {}", describe(obstacle, parts_.devices.name(obstacle.device)));
}

}  // namespace berth
