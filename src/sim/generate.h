// Generated workloads: `KIND` or `KIND:key=value,…`. The same seed gives the same workload.
//
//   mix      tasks of three kinds (image classification, LSTM and CNN training) that take parts of
//            a GPU's compute and memory, all submitted at once: n, every (time between arrivals)
//   poisson  one GPU each, exponential times between arrivals: n, load (of the machine), mean
//            (length), length=exponential|fixed
//   bursty   the same, in bursts: burst (jobs in a burst)
//   lublin   the model of Lublin and Feitelson (2003) for parallel machines: n, load
#pragma once

#include <string_view>

#include "base/result.h"
#include "sim/machine.h"
#include "sim/workload.h"

namespace berth {

Result<Workload> generate(std::string_view spec, const Machine& machine, std::uint64_t seed);

}  // namespace berth
