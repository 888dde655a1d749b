// Workload: the jobs to simulate. `duration` is the true length, which no policy sees. `expected`
// is the length that a policy is told.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/time.h"
#include "core/needs.h"

namespace berth {

struct SimJob {
  Time submit;
  Duration duration{};
  Duration expected = kForever;
  bool stated = false;  // whether a trace states `expected`; else it is just the true length
  std::uint32_t gpus = 1;
  std::uint32_t share = 0;       // thousandths of each GPU; 0: all of it
  std::uint32_t memory_mib = 0;  // claimed on each GPU; 0: not known
  std::uint32_t owner = 0;       // index into Workload::owners
  std::int32_t priority = 0;
  std::uint16_t weight = 1;
  Time begin{};  // the earliest start
};

struct Workload {
  std::vector<SimJob> jobs;  // sorted by `submit`
  std::vector<std::string> owners = {""};
  std::vector<std::string> names;  // by job; empty if the names are just numbers
};

/// What the job asks of the devices.
Needs needs_of(const SimJob& job);

/// The jobs whose expected length a policy is told.
enum class Estimated : std::uint8_t {
  All,     // with the true length where a trace states none
  Stated,  // those for which a trace states it
  None,
};

/// How the estimates for a run of a workload are made.
struct EstimateOptions {
  /// Estimates are the true lengths times e^(error × a standard normal draw). 0: `expected` as it
  /// is.
  double error = 0;
  bool truth = false;  // tell the true lengths, for policies that are defined on them
  Estimated jobs = Estimated::All;
};

/// The lengths that a policy is told, by job.
std::vector<Duration> estimates(const Workload& workload, const EstimateOptions& options,
                                std::uint64_t seed);

}  // namespace berth
