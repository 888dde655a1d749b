// Whether jobs keep within the bounds of base/bounds.h, whichever way they were described. Pure; of
// any thread.
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

/// About what the job takes in memory until it is queued.
std::size_t memory_of(const SubmittedJob& job);

/// What to tell whoever sends more than kMostJobs.
std::string too_many_jobs();

/// Adds up what a submission asks for.
class SubmissionMeter {
 public:
  /// One more job, which may follow those before. An error says of what there is too much.
  Result<void> add(const SubmittedJob& job);

 private:
  std::vector<std::uint32_t> counts_;  // of each job
  std::uint64_t members_ = 0;
  std::uint64_t dependencies_ = 0;
  std::size_t memory_ = 0;
};

}  // namespace berth
