#include "run/observer.h"

#include <fmt/format.h>

namespace berth {

void RunObserver::device_taken(std::string_view gpu, const LockHolder& holder) {
  warning(
      fmt::format("GPU {} is in use by another berth ({}): waiting for it", gpu, describe(holder)));
}

void RunObserver::interrupted(int level, std::uint64_t running) {
  warning(level == 1   ? fmt::format("starting nothing more; {} running jobs may finish (again: "
                                       "TERM, a third time: KILL)",
                                     running)
          : level == 2 ? fmt::format("sent TERM to {} running jobs (again: KILL)", running)
                       : fmt::format("killed {} running jobs", running));
}

int exit_code(const RunSummary& summary) {
  const RunCounts& counts = summary.counts;
  if (summary.interrupted && counts.not_run + counts.cancelled > 0) {
    return 130;
  }
  if (counts.failed > 0 || counts.cancelled > 0 || (counts.not_run > 0 && counts.timed_out == 0)) {
    return 1;
  }
  if (counts.timed_out > 0) {
    return 124;
  }
  if (counts.invalid > 0) {
    return 2;
  }
  return summary.log_failed || summary.lost_output > 0 ? 1 : 0;
}

}  // namespace berth
