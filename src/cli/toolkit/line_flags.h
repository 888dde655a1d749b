// Flags that set for one job, or for all jobs, what an option of a job line sets: `--gpus 2` is
// `@gpus=2`.
#pragma once

#include <string>

#include "cli/toolkit/args.h"
#include "spec/line_options.h"

namespace berth {

/// The flag `names` sets the option `key`. `options` must outlive the parsing.
void add_line_flag(Args& args, LineOptions& options, std::string key, std::string names,
                   std::string metavar, std::string help);

/// `--mem`: the GPU memory that a job claims. `--profile`: how long a job runs first to measure it.
void add_claim_flags(Args& args, LineOptions& options, Duration& profile);

/// `--weight`: the weight of a job's owner, for policies that are fair between owners.
void add_weight_flag(Args& args, LineOptions& options);

}  // namespace berth
