// The policies by name. Each is one file; this header is all that drivers need.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "core/policy.h"

namespace berth {

/// First come, first served: nothing overtakes a job that does not fit yet.
std::unique_ptr<Policy> make_fifo();

struct PriorityOptions {
  Duration aging = std::chrono::hours(1);     // of waiting that outweighs one step of priority
  Duration patience = std::chrono::hours(1);  // after which devices are collected for a blocked job
  Duration together = std::chrono::minutes(1);  // jobs that came within it may change places
};

/// The default: priority with aging, and backfilling that does not delay the first blocked job.
std::unique_ptr<Policy> make_priority(PriorityOptions options = {});

Result<std::unique_ptr<Policy>> make_policy(std::string_view name);
std::vector<std::string_view> policy_names();

}  // namespace berth
