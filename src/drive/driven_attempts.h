// DrivenAttempts: the attempts that have devices, from the lease to the end. Each has one record,
// made by begin() or adopt() and gone after end() or requeue(). Owned by the driver's thread.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "drive/host.h"
#include "drive/live_devices.h"
#include "drive/memory_lessons.h"
#include "drive/mps_starts.h"
#include "drive/told_scheduler.h"
#include "gpu/job_environment.h"

namespace berth {

class DrivenAttempts {
 public:
  /// All are borrowed.
  DrivenAttempts(ToldScheduler& scheduler, LiveDevices& devices, MemoryLessons& memory,
                 MpsStarts& mps, Host& host);

  // --- what the scheduler has decided

  /// Leases the devices, and has the attempt launched. False when the job must wait instead.
  bool begin(const StartJob& start, Time at);
  void stop(const StopJob& stop, Time at);
  /// The job has reached its final state, and is forgotten.
  void end(JobId id, Time at);
  void requeue(const JobRequeued& requeued, Time at);

  // --- what the host does, and finds out

  /// What an attempt finds in its environment beside what its user wants there.
  EnvironmentChanges environment(const StartJob& start, std::string_view name,
                                 std::string_view project, std::int64_t began_at) const;
  /// Has the attempt launched when all that it needs is there. To be called by a host for attempts
  /// that an earlier process wrote down but did not launch.
  void launch(const StartJob& start, Time at);
  /// The process of an attempt exists.
  void started(JobId job, pid_t pid, std::string cgroup, Time at);
  /// Whether over() needs to know what this attempt printed last.
  bool asks_for_output(const AttemptOver& over) const;
  /// An attempt is over. Its job's next state is decided by the next decide(), or, where the
  /// attempt ran out of memory, when a reading has told why.
  void over(AttemptOver over, Time at);
  /// An attempt that a cluster ran has used this much of its devices there.
  void used_elsewhere(JobId job, Bytes peak, std::optional<double> energy);
  /// An attempt that never started was taken back: its job waits as if it had not begun.
  void take_back(JobId job, Time at);
  /// Takes up an attempt that an earlier process began; the scheduler knows of it already.
  /// `peaks`: the most that it has used of each of its devices; empty: nobody knows.
  void adopt(JobId job, DrivenAttempt attempt, std::span<const Bytes> peaks = {});
  /// Attempts that still wait for MPS are not launched: their jobs wait on as if they had not been
  /// given devices.
  void drop_unlaunched(Time at);

  // --- what the driver's other parts find out

  /// MPS cannot be had for the attempt.
  void fail_start(const StartJob& start, const std::string& why, Time at);
  /// Something about how the attempt runs.
  void warn(JobId job, const std::string& text);
  /// Who works on the devices, and what each attempt's share of their power is.
  void measure(const Telemetry::Reading& reading, Time at);
  /// Concludes the attempts that ran out of memory before this reading began.
  void settle_complaints(const Telemetry::Reading& reading, Time at);

  const DrivenAttempt* find(JobId job) const;
  const std::map<JobId, DrivenAttempt>& all() const { return attempts_; }
  /// Of how many ends the scheduler has been told so far.
  std::uint64_t concluded() const { return concluded_; }

 private:
  /// An attempt that ran out of memory: a reading that began after its end will tell why.
  struct Complaint {
    AttemptOver over;
    std::uint64_t asked;  // the number of that reading
  };

  void conclude(const AttemptOver& over, Time at);
  void forget(JobId job);

  ToldScheduler& scheduler_;
  LiveDevices& devices_;
  MemoryLessons& memory_;
  MpsStarts& mps_;
  Host& host_;
  std::map<JobId, DrivenAttempt> attempts_;
  std::vector<Complaint> complaints_;
  Time last_reading_{};
  std::uint64_t concluded_ = 0;
};

}  // namespace berth
