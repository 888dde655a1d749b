// The policies by name. Each is one file; this header is all that drivers need.
//
// A name is an order (`fifo`, `sjf`, …), by itself or with rules joined by `+`: `sjf+easy`
// backfills behind the first in that order; `energy:1500` has a budget in watts, and `fair:6h` and
// `priority:6h` have a half-life of what owners have used. docs/policies.md says what each of them
// does.
#pragma once

#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "core/policy.h"

namespace berth {

struct BackfillOptions {
  Duration patience = std::chrono::hours(1);  // after which devices are collected for a blocked job
  Duration together = std::chrono::minutes(1);  // jobs submitted within it may change places
  bool largest_first = true;                    // whether jobs with larger claims may do so
};

struct PriorityOptions {
  Duration aging = std::chrono::hours(24 * 8);  // waiting time that outweighs one step of priority
  Duration half_life = std::chrono::hours(24);  // after which an owner's use counts half
  BackfillOptions backfill = {};
};

struct PolicyOptions {
  PriorityOptions priority;
  Time begin = kNever;                        // f1: from when times count; kNever: the first job
  std::uint64_t seed = 1;                     // lottery: seed of the draws
  Duration slice = std::chrono::minutes(10);  // rr: how long a turn is
  Duration preemption_cost{};                 // rr: work to repeat after each, not part of the turn
  Duration half_life = std::chrono::hours(24);  // fair, drf: after which use counts half
  double power_budget = std::numeric_limits<double>::infinity();  // energy: watts, for all devices
  Duration las_first = std::chrono::seconds(3250);      // las: GPU time until the first demotion
  Duration las_second = std::chrono::seconds(7200);     // and until the second
  Duration las_patience = std::chrono::hours(24 * 14);  // wait after which devices are owed
};

/// First come, first served: nothing overtakes a job that does not fit yet.
std::unique_ptr<Policy> make_fifo();

/// The default: short jobs soon and nobody late, shares between owners, and backfilling that does
/// not delay the first blocked job.
std::unique_ptr<Policy> make_priority(PriorityOptions options = {});

/// All policy names, without rules joined by `+`.
std::vector<std::string_view> policy_names();
Result<std::unique_ptr<Policy>> make_policy(std::string_view name,
                                            const PolicyOptions& options = {});

/// One line about a policy in policy_names(); empty for others.
std::string_view policy_about(std::string_view name);

/// For drivers that run real jobs, whose work cannot be kept: policies that preempt are refused.
std::vector<std::string_view> live_policy_names();
Result<std::unique_ptr<Policy>> make_live_policy(std::string_view name);

}  // namespace berth
