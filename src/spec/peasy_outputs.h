// The output files of a GPUPeasy batch: none may be there already, or be that of another job.
#pragma once

#include <vector>

#include "spec/text_jobs.h"

namespace berth {

/// A problem for each such file, up to TextJobs::kMostProblems. Files that the batch itself does
/// not name are not looked for: they come from `defaults`. Looks at the files as the calling
/// process, so a daemon may do it for its own user alone.
std::vector<TextProblem> lost_outputs(const TextJobs& batch, const JobDescription& defaults);

}  // namespace berth
