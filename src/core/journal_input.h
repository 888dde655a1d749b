// What a live scheduler is told, in the form in which it is written down: everything that a replay
// needs to decide the same again.
#pragma once

#include <optional>
#include <string>
#include <variant>

#include "core/owners.h"
#include "core/scheduler.h"

namespace berth {

/// A Submit, by reference: what was asked is in the records of the jobs first … first + count - 1.
struct Submitted {
  JobId first;
  std::uint32_t count = 1;
};
/// A device joined the scheduler's table, as the next number.
struct DeviceAdded {
  DeviceSpec device;
};
/// A job that an earlier process knew goes on where it was. What it asks for is in its record;
/// jobs that wait and have never run come as one range.
struct Restored {
  JobId first;
  std::uint32_t count = 1;
  bool held = false;
  Time not_before{};
  std::uint16_t attempt = 0;
  std::optional<Running> running;
  bool starting = false;
  std::optional<Bytes> claim = {};  // where it is another than in its record
  std::uint8_t memory_retries = 0;
};
/// A new process: the scheduler begins empty, and what follows tells it what there is.
struct Restarted {
  std::string policy;
  Scheduler::Config config = {};
  ChargedTo charged_to = ChargedTo::Project;
};
/// Scheduler::set_policy() was called.
struct PolicyChanged {
  std::string policy;
  Placement placement = Placement::Pack;
};
/// An Edit. What was asked before is kept here, because the record now has what is asked since.
struct Edited {
  JobId job;
  JobSpec before;
  JobSpec after;
};
/// step() was called: timers and the policy look at the clock only then.
struct Stepped {};

using JournalInput =
    std::variant<Submitted, Cancel, Hold, Release, Pause, Resume, JobStarted, JobExited, JobLost,
                 DeviceChanged, ForeignUse, DeviceTaken, StartRefused, DeviceAdded, Restarted,
                 Restored, Edited, Stepped, Reclaim, JobUse, PolicyChanged>;

}  // namespace berth
