// ShimRunner: jobs that outlive the daemon. A small launcher process forks one shim per job; the
// shim is the parent of the job, waits for it and writes down how it ended. The daemon learns of
// ends by the shims' process descriptors, never by polling, and after a restart finds them again
// through the files in the job folder: a held lock, a pid with its start time and the boot id,
// never a bare pid.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "exec/runner.h"

namespace berth {

/// How an attempt ended, or that nobody can know.
struct AttemptEnd {
  JobId job;
  std::uint16_t attempt = 0;
  enum class Kind { Exited, NotStarted, Lost } kind = Kind::Exited;
  int code = 0;
  int signal = 0;
  int start_error = 0;      // errno of NotStarted
  std::int64_t ended_at{};  // nanoseconds since 1970; 0 where unknown
};

struct AttemptStart {
  JobId job;
  std::uint16_t attempt = 0;
  pid_t pid = 0;
};

/// One attempt to start, for the shim.
struct ShimLaunch {
  JobId job;
  std::uint16_t attempt = 0;
  std::string command;  // for /bin/sh -c
  std::string directory;
  std::vector<std::string> environment;  // complete
  std::string stdout_path;               // opened by the shim, as the user, when the job starts
  std::string stderr_path;               // empty: with stdout
  uid_t user = 0;                        // who runs it; only root can run another's
};

class ShimRunner {
 public:
  /// Starts the launcher. `folder` is for the records of running attempts and is this daemon's
  /// alone.
  static Result<std::unique_ptr<ShimRunner>> make(std::string folder);
  virtual ~ShimRunner() = default;

  /// What the folder tells of attempts that an earlier daemon started: those that still run are
  /// adopted, those that ended meanwhile are reported by take_ends().
  virtual std::vector<AttemptStart> adopt() = 0;

  virtual Result<void> start(const ShimLaunch& launch) = 0;
  virtual void stop(JobId job, StopSignal signal) = 0;
  virtual void pause(JobId job, bool stopped) = 0;  // SIGSTOP or SIGCONT to the whole tree
  virtual void send(JobId job, int signal) = 0;     // to the whole tree

  /// Readable when take_starts() or take_ends() have something.
  virtual int event_fd() const = 0;
  virtual std::vector<AttemptStart> take_starts() = 0;
  virtual std::vector<AttemptEnd> take_ends() = 0;

  /// The daemon has the end on disk: its record may go.
  virtual void forget(JobId job, std::uint16_t attempt) = 0;
};

}  // namespace berth
