// ShimRunner: jobs that outlive the daemon. A small launcher process forks one shim per job; the
// shim is the parent of the job, waits for it and writes down how it ended. The daemon learns of
// ends by the shims' process descriptors, never by polling, and after a restart finds them again
// through the files in the job folder: a held lock, a pid with its start time and the boot id,
// never a bare pid.
//
// All on one thread. What is promised, whatever is killed and whenever:
// - an attempt (job and attempt number) runs at most once in a folder, however often it is asked
// for;
// - each attempt ends in exactly one AttemptEnd per runner, with the true code or as Lost;
// - while any process of an attempt may still run as its job, it has not ended.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "exec/attempt_record.h"
#include "exec/runner.h"

namespace berth {

/// How an attempt ended, or that nobody can know.
struct AttemptEnd {
  JobId job;
  std::uint16_t attempt = 0;
  enum class Kind { Exited, NotStarted, Lost } kind = Kind::Exited;
  int code = 0;
  int signal = 0;
  int start_error = 0;                     // errno of NotStarted
  StartStep start_step = StartStep::None;  // what it was about
  std::int64_t ended_at{};                 // nanoseconds since 1970; 0 where unknown
};

struct AttemptStart {
  JobId job;
  std::uint16_t attempt = 0;
  pid_t pid = 0;  // of the job and its process group; 0 where an adopted one has not come to that
  std::string cgroup;  // of the job, as /proc/PID/cgroup names it; empty: none
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
  /// Files that the caller has locked, shared, for the devices of the job. The shim and the job
  /// lock them too, so that the devices stay leased until both are gone.
  std::vector<std::string> locks;
};

class ShimRunner {
 public:
  struct Options {
    bool use_cgroups = true;
    std::string boot_id_path = "/proc/sys/kernel/random/boot_id";
    /// How long make() waits for the launcher of a daemon that has just died.
    std::chrono::milliseconds patience = std::chrono::seconds(10);
  };
  /// Starts the launcher; call it while the process is small and has one thread. `folder` is for
  /// the records of running attempts and is this daemon's alone: an error while another has it.
  static Result<std::unique_ptr<ShimRunner>> make(std::string folder, Options options);
  static Result<std::unique_ptr<ShimRunner>> make(std::string folder) {
    return make(std::move(folder), Options());
  }
  /// Leaves jobs running. What was asked for but not started is not, and leaves no trace.
  virtual ~ShimRunner() = default;

  /// What the folder tells of attempts that an earlier daemon started: those that still run are
  /// adopted, those that ended meanwhile are reported by take_ends(). An attempt that is in neither
  /// never started, and may be started. To be called once, before start(). An end that was not
  /// forgotten is told again, and after a loss of power even one that was: who has it on disk
  /// knows.
  virtual std::vector<AttemptStart> adopt() = 0;

  /// Whether an attempt of which adopt() knows nothing may have run all the same, because somebody
  /// has deleted what was in the folder: it must not be started again. `started`: its start is
  /// known.
  virtual bool may_have_run(JobId job, std::uint16_t attempt, bool started) const = 0;

  /// Queues the attempt; a job has one at a time. All else that can go wrong is told by its end.
  virtual Result<void> start(const ShimLaunch& launch) = 0;
  // Jobs that have ended are left alone; for one that is being started the signal waits.
  virtual void stop(JobId job, StopSignal signal) = 0;
  virtual void pause(JobId job, bool stopped) = 0;  // SIGSTOP or SIGCONT to the whole tree
  virtual void send(JobId job, int signal) = 0;     // to the whole tree

  /// Readable when take_starts() or take_ends() may have something; call both then.
  virtual int event_fd() const = 0;
  /// An end is held back until the start of its attempt, if it came to one, has been taken. A start
  /// may be followed by a NotStarted end.
  virtual std::vector<AttemptStart> take_starts() = 0;
  virtual std::vector<AttemptEnd> take_ends() = 0;

  /// The daemon has the end on disk: its record may go. The number may not be used again.
  virtual void forget(JobId job, std::uint16_t attempt) = 0;
};

}  // namespace berth
