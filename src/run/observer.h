// RunObserver: tells the user how a run is going. It is called on the run's own thread. The
// observer decides what to print and how often to redraw.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "core/job_spec.h"
#include "gpu/devices.h"
#include "gpu/locks/lock_folder.h"

namespace berth {

/// One attempt of one job, as an observer sees it.
struct JobEvent {
  JobId id;
  std::string_view name;
  std::string_view command;
  std::uint16_t attempt = 0;
  std::vector<std::string> gpus;  // names
  std::vector<DeviceId> devices;  // the same, as indices of the list of devices
  pid_t pid = 0;
  double time = 0;  // seconds since 1970
};

struct JobEndEvent {
  Outcome outcome = Outcome::Succeeded;
  EndReason reason = EndReason::Exited;
  int exit_code = 0;
  int signal = 0;
  int start_error = 0;  // errno
  Duration runtime{};
  Bytes peak_memory;     // on the device where it was highest; 0: not seen
  bool retried = false;  // another attempt follows
  std::string note;      // details beyond the outcome; mostly empty
};

/// Where a run stands.
struct RunCounts {
  std::uint64_t succeeded = 0;
  std::uint64_t failed = 0;  // exited with an error, died of a signal, or could not be started
  std::uint64_t out_of_memory = 0;  // of those that failed: on a GPU
  std::uint64_t timed_out = 0;
  std::uint64_t cancelled = 0;  // ended by a signal to berth or by --halt
  std::uint64_t not_run = 0;
  std::uint64_t skipped = 0;  // already done, according to the joblog
  std::uint64_t invalid = 0;  // lines that are not jobs
  std::uint64_t running = 0;
  std::uint64_t waiting = 0;

  std::uint64_t ended() const { return succeeded + failed + timed_out + cancelled; }
};

struct DeviceProgress {
  std::string name;
  std::vector<JobId> jobs;
  std::string_view command;  // of the job that has run longest
  Duration running{};        // for how long
  std::optional<int> utilization;
  std::optional<Bytes> used;
  Bytes memory;
  bool taken = false;  // another berth instance has it
};

struct RunProgress {
  RunCounts counts;
  bool input_open = false;  // more jobs may come
  Duration elapsed{};
  Duration remaining = kForever;  // an estimate; kForever: unknown
  std::vector<DeviceProgress> devices;
};

struct DeviceTotals {
  std::string name;
  std::string model;
  std::uint64_t jobs = 0;
  Duration busy{};
  std::optional<double> mean_utilization;  // percent, over the samples
  Bytes peak_memory;                       // of everything on the device
  std::optional<double> energy;            // joules
};

struct RunSummary {
  RunCounts counts;
  std::vector<JobId> failed;  // the first jobs that failed or timed out
  Duration elapsed{};
  Duration total_wait{};  // over all jobs that started
  Duration longest_wait{};
  Duration total_runtime{};
  Duration longest_runtime{};
  std::uint64_t started = 0;  // jobs, not attempts
  std::uint64_t retries = 0;
  std::vector<DeviceTotals> devices;
  std::uint64_t lost_output = 0;  // bytes that could not be written to logs
  bool interrupted = false;       // by a signal
  bool halted = false;            // by --halt
  bool log_failed = false;        // a joblog or an output that could not be written
};

/// The exit code that tells how a run went.
int exit_code(const RunSummary& summary);

class RunObserver {
 public:
  virtual ~RunObserver() = default;

  virtual void job_started(const JobEvent&) {}
  virtual void job_ended(const JobEvent&, const JobEndEvent&) {}
  /// The job was stopped where it is, because it is the turn of others, or goes on.
  virtual void job_stopped(const JobEvent&, bool /*stopped*/) {}
  /// Whole lines that a job has written, newlines included.
  virtual void job_output(JobId, bool is_stderr, std::string_view lines) = 0;
  virtual void warning(std::string_view text) = 0;
  /// A job waits, and another berth instance has this device. Called once for each device.
  virtual void device_taken(std::string_view gpu, const LockHolder& holder);
  /// Nothing runs, and jobs wait. The text says why the first of them waits. Called whenever the
  /// reason changes.
  virtual void stalled(std::string_view) {}
  /// A signal came while jobs ran. 1: the jobs may finish; 2: they were asked to end; 3: they were
  /// killed.
  virtual void interrupted(int level, std::uint64_t running);
  /// A reading of all devices, in the order in which they are listed.
  virtual void sampled(const std::vector<DeviceSample>&) {}
  /// How often progress() is called; kForever: never.
  virtual Duration interval() const { return kForever; }
  virtual void progress(const RunProgress&) {}
  virtual void finished(const RunSummary&) {}
};

}  // namespace berth
