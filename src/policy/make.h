// Functions that make the policies, for the table of their names in policies.cc.
#pragma once

#include <memory>

#include "policy/in_order.h"
#include "policy/policies.h"

namespace berth {

std::unique_ptr<Policy> make_srtf();
std::unique_ptr<Policy> make_srsf();

/// Two-dimensional least attained service (Tiresias): demoted by GPU time used.
std::unique_ptr<Policy> make_las(Duration first, Duration second, Duration patience);

/// Round robin: each job runs for a slice in turn; the cost of resuming is not part of the slice.
std::unique_ptr<Policy> make_round_robin(Duration slice, Duration cost);

/// EASY: backfills behind the first job in order.
std::unique_ptr<Policy> make_easy(const Order& order);

/// Conservative backfilling: backfills without delaying any job.
std::unique_ptr<Policy> make_conservative();

std::unique_ptr<Policy> make_lottery(std::uint64_t seed);
std::unique_ptr<Policy> make_stride();
std::unique_ptr<Policy> make_wfq();
std::unique_ptr<Policy> make_fair(Duration half_life);
std::unique_ptr<Policy> make_drf(Duration half_life);
std::unique_ptr<Policy> make_energy(double budget);

/// RLScheduler's rules.
std::unique_ptr<Policy> make_commit(const Order& order);
std::unique_ptr<Policy> make_commit_backfill(const Order& order);

}  // namespace berth
