// The output files of a GPUPeasy batch: none may be there already, or be that of another job.
#pragma once

#include "base/result.h"
#include "core/description.h"
#include "spec/text_jobs.h"

namespace berth {

/// An error that names every such file. Files that the batch itself does not name are not looked
/// for: they come from `defaults`.
Result<void> check_fresh_outputs(const TextJobs& batch, const JobDescription& defaults);

}  // namespace berth
