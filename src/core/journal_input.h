// What a live scheduler is told, in the form in which it is written down: everything that a replay
// needs to decide the same again, and nothing that it would have to look up elsewhere.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/scheduler.h"

namespace berth {

/// A device joined the scheduler's table, as the next number.
struct DeviceAdded {
  DeviceSpec device;
};
/// Jobs that an earlier process knew, or the present one as they stand in a checkpoint, with ids in
/// a row.
struct Restored {
  Restore first;
  std::uint32_t count = 1;  // the first and those that are as it is
  /// Then others that differ from it in nothing else.
  struct More {
    std::uint32_t count = 1;
    Time submitted;
    std::optional<Rank> rank = {};
  };
  std::vector<More> more = {};

  /// Calls `visit` with the Restore of each job.
  template <class Visit>
  void for_each(Visit visit) const {
    Restore job = first;
    const auto visit_run = [&](std::uint32_t run) {
      for (; run > 0; --run) {
        visit(std::as_const(job));
        ++job.id.value;
      }
    };
    visit_run(count);
    for (const More& next : more) {
      job.submitted = next.submitted;
      if (job.standing) {
        job.standing->rank = next.rank;
      }
      visit_run(next.count);
    }
  }
};
/// A new process: the scheduler begins empty, and what follows tells it what there is.
struct Restarted {
  std::string policy;
  Scheduler::Config config = {};
};
/// Scheduler::set_policy() was called.
struct PolicyChanged {
  std::string policy;
  Placement placement = Placement::Pack;
};
/// step() was called: timers and the policy look at the clock only then.
struct Stepped {};

// A checkpoint is written while the scheduler goes on: other inputs may stand between these.
// Restored jobs with a Standing belong to it; what is told of a job last counts.

struct CheckpointBegun {};
/// These have ended since they were written.
struct JobsGone {
  std::vector<JobId> jobs;
};
/// All jobs have been told of, and this is the rest: from here on a replay can begin.
struct CheckpointDone {
  Restarted scheduler;
  std::vector<DeviceSlot> devices;  // without their leases
  SchedulerBooks books;
};

/// A Submit has the id that the first job was given, and is known to be accepted.
using JournalInput =
    std::variant<Submit, Cancel, Hold, Release, Pause, Resume, JobStarted, JobExited, JobLost,
                 DeviceChanged, ForeignUse, DeviceTaken, StartRefused, DeviceAdded, Restarted,
                 Restored, Edit, Stepped, Reclaim, JobUse, PolicyChanged, CheckpointBegun, JobsGone,
                 CheckpointDone>;

}  // namespace berth
