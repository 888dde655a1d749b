// Flags that say of a job, or of all, what an option of a job line says: `--gpus 2` is `@gpus=2`.
#pragma once

#include <string>

#include "cli/toolkit/args.h"
#include "spec/line_options.h"

namespace berth {

/// `names` sets the option `key`. `options` must outlive the parsing.
void add_line_flag(Args& args, LineOptions& options, std::string key, std::string names,
                   std::string metavar, std::string help);

/// `--mem`: what a job claims; `--profile`: how that is found out.
void add_claim_flags(Args& args, LineOptions& options, Duration& profile);

/// `--weight`: among owners, for the policies that are fair between them.
void add_weight_flag(Args& args, LineOptions& options);

}  // namespace berth
