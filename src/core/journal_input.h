// The inputs of a live scheduler, in the form in which they are recorded: everything that a replay
// needs to decide the same again, and nothing that it would have to look up elsewhere.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/scheduler.h"

namespace berth {

/// A device joined the scheduler's table, under the next number.
struct DeviceAdded {
  DeviceSpec device;
};
/// Jobs with consecutive ids: jobs that an earlier process knew, or jobs of the present process as
/// they stand in a checkpoint.
struct Restored {
  Restore first;
  std::uint32_t count = 1;  // the first job and those equal to it
  /// Further jobs that differ from the first in nothing else.
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
/// A new process: the scheduler begins empty, and the inputs that follow tell it what there is.
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

// A checkpoint is written while the scheduler goes on, so other inputs may stand between these.
// Restored jobs with a Standing belong to the checkpoint. The last input about a job counts.

struct CheckpointBegun {};
/// These jobs have ended since they were written.
struct JobsGone {
  std::vector<JobId> jobs;
};
/// All jobs have been written, and this is the rest of the state. From here on, a replay can begin.
struct CheckpointDone {
  Restarted scheduler;
  std::vector<DeviceSlot> devices;  // without their leases
  SchedulerBooks books;
};

/// A Submit has the id that its first job was given, and is known to have been accepted.
using JournalInput =
    std::variant<Submit, Cancel, Hold, Release, Pause, Resume, JobStarted, JobExited, JobLost,
                 DeviceChanged, ForeignUse, DeviceTaken, StartRefused, DeviceAdded, Restarted,
                 Restored, Edit, Stepped, Reclaim, JobUse, PolicyChanged, CheckpointBegun, JobsGone,
                 CheckpointDone, Reestimate>;

}  // namespace berth
