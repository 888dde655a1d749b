// Runner: starts jobs and reports when they end. Everything happens on the caller's thread: start()
// and stop() return at once, and event_fd() becomes readable when a job has ended.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/ids.h"
#include "base/result.h"

namespace berth {

/// One attempt of one job.
struct Launch {
  JobId job;
  std::string command;  // run by /bin/sh -c
  /// Changes to berth's own environment: variables to set or (no value) to remove.
  std::vector<std::pair<std::string, std::optional<std::string>>> environment;
  // Borrowed during start().
  int stdin_fd = -1;  // /dev/null
  int stdout_fd = 1;
  int stderr_fd = 2;
  /// The job gets a session of its own: a terminal lets it read there, and change the terminal's
  /// settings, although the job is not in the foreground process group. Ctrl-C does not reach it.
  bool own_session = false;
  /// The job keeps these open, so that their locks stay until the job has ended, even if berth
  /// dies.
  std::vector<int> locks;
};

struct Exit {
  JobId job;
  int code = 0;  // when signal is 0
  int signal = 0;
  int start_error = 0;  // errno when the command could not be run at all
};

enum class StopSignal { Terminate, Kill };

class Runner {
 public:
  virtual ~Runner() = default;

  /// Returns the process id of the job, which is also that of its process group.
  virtual Result<pid_t> start(Launch launch) = 0;

  /// Signals the job's whole tree, wherever its processes have moved. A job that has ended is left
  /// alone.
  virtual void stop(JobId job, StopSignal signal) = 0;

  /// Stops the job's whole tree where it is, or lets it go on. A job that has ended is left alone.
  virtual void pause(JobId job, bool stopped) = 0;

  /// The cgroup of a running job, as /proc/PID/cgroup names it; empty where it has none.
  virtual std::string cgroup_of(JobId job) const = 0;

  virtual int event_fd() const = 0;

  /// Every job has the token in its environment as BERTH_RUN, so that its processes can be told
  /// from those of another berth instance.
  virtual const std::string& token() const = 0;

  /// The jobs that have ended since the last call. Processes that they left running have been
  /// killed.
  virtual std::vector<Exit> take_exits() = 0;
};

}  // namespace berth
