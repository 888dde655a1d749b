// Host: carries out the driver's decisions. Two programs are hosts: `berth run`, with children of
// its own and no disk, and the daemon, with shims and a store. Tests have a third.
#pragma once

#include <sys/types.h>

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/journal_input.h"
#include "core/recipe.h"
#include "core/scheduler.h"
#include "gpu/locks/device_locks.h"
#include "gpu/telemetry/telemetry.h"

namespace berth {

/// What a host knows about a new attempt, and the driver needs.
struct AttemptFacts {
  Recipe recipe;  // jobs of one recipe use about the same memory
  uid_t user = 0;
  /// False when the host cannot start the attempt. The host then reports this as the end of an
  /// attempt that never started.
  bool can_start = true;
};

/// An attempt that has devices, as the driver knows it. It exists from the beginning of the attempt
/// to its end.
struct DrivenAttempt {
  std::uint16_t number = 0;
  std::vector<DeviceId> devices;
  AttemptFacts facts;
  Time begun{};
  pid_t pid = 0;
  std::string cgroup;            // as /proc/PID/cgroup names it; empty: none
  std::optional<double> energy;  // in joules, its share of what its devices drew
  std::string note;              // about its end
  std::string warning;           // about how it runs
};

/// How an attempt ended, as far as its host knows.
struct AttemptOver {
  JobId job;
  int code = 0;  // when signal is 0
  int signal = 0;
  enum class Kind : std::uint8_t { Exited, NotStarted, Lost } kind = Kind::Exited;
  std::string output_end = {};  // what it printed last, if DrivenAttempts::asks_for_output()
  std::string note = {};        // what the user should know about this end; mostly empty
};

class Host {
 public:
  virtual ~Host() = default;

  virtual Time now() const = 0;
  /// Calls `readable` whenever the descriptor is readable. `what` names its owner in a word or two.
  virtual void watch(int fd, std::string_view what, std::function<void()> readable) = 0;
  virtual void unwatch(int fd) = 0;

  /// A job has been given devices, and they are locked. Nothing is started yet.
  virtual AttemptFacts begin(const StartJob& start, Time at) = 0;
  /// Starts the attempt. Everything that it needs is there, including its MPS control daemon.
  virtual void launch(const StartJob& start, Time at) = 0;
  virtual void stop(const StopJob& stop) = 0;
  /// The job's time is nearly over.
  virtual void warn(JobId job) = 0;
  /// The job has reached its final state. `attempt`: its last one, if that had begun.
  virtual void ended(const Job& job, const Ended& ended, const DrivenAttempt* attempt, Time at) = 0;
  virtual void requeued(const JobRequeued& requeued, const DrivenAttempt& attempt, Time at) = 0;
  /// Something known about a running attempt has changed.
  virtual void attempt_changed(JobId job) = 0;

  virtual void device_changed(DeviceId device, DeviceHealth before) = 0;
  /// The scheduler has been told of the reading already.
  virtual void reading_taken(const Telemetry::Reading& reading, Time at) = 0;
  /// A device meant for a job cannot be leased: the job waits.
  virtual void blocked(const DeviceLocks::Obstacle& obstacle) = 0;
  /// Something that the user should know.
  virtual void inform(const std::string& text) = 0;
};

}  // namespace berth
