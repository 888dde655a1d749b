// ShimRunner: runs jobs that outlive the daemon. A small launcher process forks shims. A shim is
// the parent of one job at a time, waits for it and records how it ended. It tells the daemon, and
// goes on with another job of the same user if there is one soon. A shim that dies is noticed
// through its process descriptor; nothing is polled. After a restart the daemon finds the shims
// again through the files in the job folder: by a held lock, and by a pid with its start time and
// the boot id, never by a bare pid.
//
// Everything runs on one thread. These promises hold whichever process is killed, at any time:
// - an attempt (job and attempt number) runs at most once in a folder, however often it is
//   requested;
// - each attempt ends in exactly one AttemptEnd per runner, with the true code or as Lost;
// - an attempt has not ended while any of its processes may still run as its job.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "exec/attempt_record.h"
#include "exec/runner.h"

namespace berth {

/// How an attempt ended, or that this cannot be known.
struct AttemptEnd {
  JobId job;
  std::uint16_t attempt = 0;
  /// Withdrawn: it was stopped before it had started, and never will.
  enum class Kind { Exited, NotStarted, Lost, Withdrawn } kind = Kind::Exited;
  int code = 0;
  int signal = 0;
  int start_error = 0;                     // errno of NotStarted
  StartStep start_step = StartStep::None;  // the step that failed
  std::int64_t ended_at{};                 // nanoseconds since 1970; 0 where unknown
  // Of attempts on clusters.
  std::string note = {};              // what else is known about this end
  bool cancelled_there = false;       // by somebody who asked the cluster, not berth
  std::int64_t peak = 0;              // bytes of GPU memory that it used at most; 0: unknown
  std::optional<double> energy = {};  // joules
};

struct AttemptStart {
  JobId job;
  std::uint16_t attempt = 0;
  pid_t pid = 0;       // of the job and its process group; 0 if an adopted attempt has none yet
  std::string cgroup;  // of the job, as /proc/PID/cgroup names it; empty: none
};

/// One attempt to start, for the shim.
struct ShimLaunch {
  JobId job;
  std::uint16_t attempt = 0;
  std::string command;  // for /bin/sh -c
  std::string directory;
  std::vector<std::string> environment;  // complete
  std::string stdout_path;               // opened as the user when the job starts
  std::string stderr_path;               // empty: with stdout
  uid_t user = 0;                        // the user it runs as; only root can run other users' jobs
  /// Files that the caller has locked, shared, for the job's devices. The shim and the job lock
  /// them too, so that the devices stay leased until both are gone.
  std::vector<std::string> locks;
  // For a cluster.
  std::string target = {};                       // its name; empty: this machine
  std::vector<std::string> target_options = {};  // for its sbatch
  std::int64_t limit = 0;      // seconds that the job may run; 0: as long as it likes
  bool whole_devices = false;  // it shares its GPUs with nobody
};

class ShimRunner {
 public:
  struct Options {
    bool use_cgroups = true;
    std::string boot_id_path = "/proc/sys/kernel/random/boot_id";
    /// How long make() waits for the launcher of a daemon that has just died.
    std::chrono::milliseconds patience = std::chrono::seconds(10);
  };
  /// Starts the launcher. Call it while the process is small and has one thread. `folder` is for
  /// the records of running attempts and belongs to this daemon alone. It is an error if another
  /// daemon has it.
  static Result<std::unique_ptr<ShimRunner>> make(std::string folder, Options options);
  static Result<std::unique_ptr<ShimRunner>> make(std::string folder) {
    return make(std::move(folder), Options());
  }
  /// Leaves jobs running. Attempts that were requested but not started are dropped and leave no
  /// trace.
  virtual ~ShimRunner() = default;

  /// Finds the attempts in the folder that an earlier daemon started. It adopts and returns those
  /// that still run; take_ends() reports those that ended meanwhile. An attempt that is in neither
  /// list never started, and may be started. Call it once, before start(). An end that was not
  /// forgotten is reported again. After a loss of power even a forgotten end may be reported again;
  /// a caller that has it on disk knows.
  virtual std::vector<AttemptStart> adopt() = 0;

  /// Whether an attempt that adopt() does not know may have run all the same, because the contents
  /// of the folder were deleted. Such an attempt must not be started again. `started` says that its
  /// start is known.
  virtual bool may_have_run(JobId job, std::uint16_t attempt, bool started) const = 0;

  /// Queues the attempt. A job has one attempt at a time. Everything else that can go wrong is
  /// reported by the attempt's end.
  virtual Result<void> start(const ShimLaunch& launch) = 0;
  // Jobs that have ended are left alone. For a job that is being started, the signal waits.
  virtual void stop(JobId job, StopSignal signal) = 0;
  /// SIGSTOP or SIGCONT to the whole tree. True: take_pauses() will tell when the job's main
  /// process has stopped or goes on, unless it already had, or its shim dies.
  virtual bool pause(JobId job, bool stopped) = 0;
  virtual void send(JobId job, int signal) = 0;  // to the whole tree

  /// Readable when one of these may have something; call all of them then.
  virtual int event_fd() const = 0;
  /// An end is held back until the start of its attempt, if there was one, has been taken. A
  /// NotStarted end may follow a start.
  virtual std::vector<AttemptStart> take_starts() = 0;
  virtual std::vector<AttemptEnd> take_ends() = 0;
  /// Jobs that have stopped or go on, as pause() asked.
  virtual std::vector<JobId> take_pauses() { return {}; }

  /// Takes back an attempt that has not started, at once: it never will, and has no end. False when
  /// it has started, or may have.
  virtual bool take_back(JobId) { return false; }

  /// Call it when the daemon has the end on disk: its record may go. The attempt number must not be
  /// used again.
  virtual void forget(JobId job, std::uint16_t attempt) = 0;
};

}  // namespace berth
