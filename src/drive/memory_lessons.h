// MemoryLessons: how much of their devices' memory jobs turn out to use, and what follows from
// that: what was at fault when a job ran out of memory, what waiting jobs of the same recipe claim,
// and which running jobs use more than they claimed. Owned by the driver's thread.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/learner.h"
#include "drive/host.h"
#include "drive/length_lessons.h"
#include "drive/told_scheduler.h"
#include "memory/memory_watch.h"
#include "memory/peak_file.h"

namespace berth {

class MemoryLessons {
 public:
  using Attempts = std::map<JobId, DrivenAttempt>;

  /// `peaks`: the file of what jobs have used and how long they ran; empty: nothing is learned
  /// about memory, and lengths are kept no longer than this process. `lengths` is told of both.
  /// `risk`: how often a job may use more than the claim that was learned.
  MemoryLessons(ToldScheduler& scheduler, LengthLessons& lengths, const std::string& peaks,
                double risk);

  bool learns() const { return peaks_ != nullptr; }
  /// Sets the claim of a job that is about to be submitted, if the claim is to be learned.
  void claim(Needs& needs, const Recipe& recipe) const;
  /// What is known about the memory of such a job.
  PeakOutlook outlook(const Recipe& recipe) const { return learner_.outlook(recipe); }
  double risk() const { return learner_.risk(); }
  /// These jobs wait. Their claims change when more is known.
  void jobs_wait(JobId first, std::uint32_t count, const Recipe& recipe);
  /// Gives waiting jobs the claims that have been learned since. Looks at no more than `most` of
  /// them: call it again while behind().
  void pass_on_claims(std::size_t most, Time at);
  /// Waiting jobs were given claims at another risk: they are to follow this one.
  void reconsider() { learner_.reconsider(); }
  bool behind() const { return learner_.behind(); }

  /// A job of an earlier process has used this much of each of its devices.
  void adopt(JobId job, std::span<const DeviceId> devices, std::span<const Bytes> peaks) {
    watch_.adopt(job, devices, peaks);
  }
  /// A job has used this much of a device that is not here.
  void used_elsewhere(JobId job, Bytes peak) { watch_.used_elsewhere(job, peak); }
  void take(const Telemetry::Reading& reading, Time at);

  /// Whether the attempt's last output matters: the attempt may have run out of memory.
  static bool asks_for_output(const Job& job, const AttemptOver& over);
  /// Whether the attempt says that it ran out of memory. A reading taken after its end tells why.
  static bool complains(const Job& job, const AttemptOver& over);
  /// Whether the attempt failed because it got no more memory. Notes what was at fault, and learns
  /// from it.
  std::optional<MemoryEnd> judge(const Job& job, const AttemptOver& over, Attempts& attempts);
  /// Learns from an attempt that ended well what it used and how long it ran. Call it before the
  /// scheduler is told of the end, so that waiting jobs claim what the end
  /// teaches when the scheduler decides which job comes next.
  void learn_run(const AttemptOver& over, const DrivenAttempt& attempt, Time at);

  const MemoryWatch& watch() const { return watch_; }
  void forget(JobId job) { watch_.forget(job); }

 private:
  ToldScheduler& scheduler_;
  LengthLessons& lengths_;
  MemoryWatch watch_;
  Learner learner_;
  std::unique_ptr<PeakFile> peaks_;
};

}  // namespace berth
