// What sacct prints about ended jobs, as values. Pure.
#pragma once

#include <string_view>
#include <vector>

#include "slurm/squeue_table.h"

namespace berth {

/// The argument of sacct's --format for which read_sacct() is, with --parsable2 and --noheader.
inline constexpr std::string_view kSacctFormat = "JobID,State,ExitCode,JobName";

/// Jobs that are over, with their states as sacct has them: "CANCELLED by 1000". Others are left
/// out: what squeue does not know any more has been lost by Slurm.
std::vector<SqueueRow> read_sacct(std::string_view output);

}  // namespace berth
