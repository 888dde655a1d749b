// `--oom-risk`: how many of the jobs whose memory was learned may use more than they claim.
#pragma once

#include <optional>
#include <string_view>

#include "cli/toolkit/args.h"

namespace berth {

/// `1%` or `0.01`.
Result<double> parse_risk(std::string_view text);
void add_risk_option(Args& args, std::string help, std::optional<double>& risk);

}  // namespace berth
