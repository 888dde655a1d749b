// What the store keeps of a job and of its attempts. All times count from 1970 (UTC); kNever is
// "not yet". Devices are named as `--gpus` names them: their numbers in the scheduler's table do
// not outlive a restart.
#pragma once

#include <sys/types.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/description.h"

namespace berth {

/// Where a job is: JobState without its data, and every outcome as a state of its own. The numbers
/// are on disk.
enum class JobPhase : std::uint8_t {
  Held = 0,
  Queued = 1,
  Starting = 2,
  Running = 3,
  Succeeded = 4,
  Failed = 5,
  Cancelled = 6,
  TimedOut = 7,
  Oom = 8,
  Lost = 9,
};
inline constexpr std::size_t kPhases = 10;

constexpr bool is_live(JobPhase phase) { return phase < JobPhase::Succeeded; }
JobPhase phase_of(Outcome outcome);
/// Only for a phase that is not live.
Outcome outcome_of(JobPhase phase);
/// The same names as state_name().
std::string_view phase_name(JobPhase phase);

/// How an attempt ended, or how a job ended: as its last attempt did, if there was one.
struct Ending {
  Outcome outcome = Outcome::Failed;
  EndReason reason = EndReason::Exited;
  int exit_code = 0;  // meaningful when signal is 0
  int signal = 0;
  Time ended{};
  Bytes peak;                     // highest use of GPU memory; 0 when unknown
  Duration gpu_time{};            // the sum of its times on each of its devices
  std::optional<double> energy;   // joules
  std::string message;            // what the reason does not say; usually empty
  std::vector<Bytes> peaks = {};  // of an attempt: on each of its devices; none: unknown
};

struct JobRecord {
  JobId id;
  JobDescription description;
  JobPhase phase = JobPhase::Queued;
  std::uint16_t attempt = 0;  // how many have begun
  Time submitted{};
  Time not_before{};      // the earliest time at which it may start
  Time started = kNever;  // of the last attempt
  std::optional<Ending> ending;
};

struct StoredAttempt {
  JobId job;
  std::uint16_t attempt = 0;
  std::vector<std::string> devices;
  Time begun{};           // when its devices were leased
  Time started = kNever;  // when its process started
  pid_t pid = 0;          // 0: not yet
  std::string stdout_path;
  std::string stderr_path;  // empty: with stdout
  std::optional<Ending> ending;
};

/// A job that has not ended, with what the scheduler needs to go on.
struct LiveJob {
  JobId id;
  JobSpec spec;  // `held` as submitted: `phase` says whether it is held now
  JobPhase phase = JobPhase::Queued;
  std::uint16_t attempt = 0;
  Time submitted{};
  Time not_before{};
  Time started = kNever;             // of the present attempt
  std::vector<std::string> devices;  // of the present attempt, while it is starting or running
  Stopping stopping = Stopping::No;  // that attempt has been asked to end
  std::optional<Bytes> claim;        // if other than the submitted claim; 0: alone
  std::uint8_t memory_retries = 0;
  std::string project;
  std::string command;
  uid_t user = 0;
  /// If it names a file for its output: this, its name, directory and array index.
  std::optional<JobDescription> outputs;
};

/// What a token stands for: the jobs of the submission that carried it.
struct Submission {
  JobId first;
  std::uint32_t count = 0;
};

using PhaseCounts = std::array<std::uint64_t, kPhases>;

}  // namespace berth
