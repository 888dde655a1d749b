// Whether jobs stay within the bounds of base/bounds.h, however they were described. Pure; callable
// from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "core/submitted_job.h"

namespace berth {

/// An error names the field, the bound and what to do.
Result<void> check_bounds(const JobDescription& job);

/// About how much memory the job takes until it is queued.
std::size_t memory_of(const SubmittedJob& job);

/// The message for a client that sends more than kMostJobs.
std::string too_many_jobs();

/// Adds up what a submission asks for.
class SubmissionMeter {
 public:
  /// Adds a job, which may follow earlier ones. An error says which bound is exceeded.
  Result<void> add(const SubmittedJob& job);

 private:
  std::vector<std::uint32_t> counts_;  // of each job
  std::uint64_t members_ = 0;
  std::uint64_t dependencies_ = 0;
  std::size_t memory_ = 0;
};

}  // namespace berth
