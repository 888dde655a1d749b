#include "sim/workload.h"

#include <cmath>

#include "base/random.h"
#include "sim/distributions.h"

namespace berth {

Needs needs_of(const SimJob& job) {
  Needs needs;
  needs.gpus = job.gpus;
  // A whole GPU is one that is not shared.
  needs.share = job.share >= kWholeShare ? 0 : job.share;
  needs.memory = mebibytes(job.memory_mib);
  return needs;
}

std::vector<Duration> estimates(const Workload& workload, const EstimateOptions& options,
                                std::uint64_t seed) {
  Random random(seed ^ 0x65737469ULL);
  std::vector<Duration> told;
  told.reserve(workload.jobs.size());
  for (const SimJob& job : workload.jobs) {
    if (options.truth) {
      told.push_back(job.duration);
    } else if (options.jobs == Estimated::None ||
               (options.jobs == Estimated::Stated && !job.stated)) {
      told.push_back(kForever);
    } else if (options.error > 0) {
      const double factor = std::exp(options.error * standard_normal(random));
      told.push_back(std::chrono::duration_cast<Duration>(job.duration * factor));
    } else {
      told.push_back(job.expected);
    }
  }
  return told;
}

}  // namespace berth
