// Questions to the daemon of a chaos round. It may be killed in the middle of any answer, so each
// question is asked again until a daemon lives long enough.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cli/selftest/chaos_ledger.h"

namespace berth {

/// Nothing of a round takes so long undisturbed.
inline constexpr auto kChaosPatience = std::chrono::seconds(60);

/// Starts a daemon where there is none. Adds to `repeated` how often it had to ask again.
Result<std::string> ask_until_answered(std::string_view method, std::string_view target,
                                       std::string_view body, std::uint32_t& repeated);

/// Returns when all jobs have ended.
Result<void> wait_for_chaos_jobs();

/// All jobs that the daemon knows.
Result<std::vector<JobOnRecord>> read_chaos_records();

}  // namespace berth
