// AttemptTable: the attempts of a store's jobs. Handed out by Store, which says how writes gather
// and what they report.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/result.h"
#include "store/records.h"

namespace berth {

class Backing;

class AttemptTable {
 public:
  explicit AttemptTable(Backing& backing) : backing_(backing) {}

  /// The job has devices: it begins a new attempt and is starting. Later fields of the record are
  /// ignored.
  Result<void> begin(StoredAttempt attempt);
  /// The process of the attempt exists: the job is running.
  Result<void> start(JobId job, std::uint16_t attempt, pid_t pid, Time started);
  /// The job has been asked to end. After a restart, the daemon must ask it again, and knows why it
  /// ended. Holds until the attempt is over.
  Result<void> set_stopping(JobId job, Stopping why);
  /// How the attempt ended. JobTable::set_waiting() or end() tells what becomes of the job.
  Result<void> end(JobId job, std::uint16_t attempt, Ending ending);

  /// The newest attempts of a job, in order.
  Result<std::vector<StoredAttempt>> of(JobId job, std::size_t newest = SIZE_MAX);
  Result<std::optional<StoredAttempt>> find(JobId job, std::uint16_t number);

 private:
  Backing& backing_;
};

}  // namespace berth
