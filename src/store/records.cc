#include "store/records.h"

#include "base/check.h"

namespace berth {

JobPhase phase_of(Outcome outcome) {
  return static_cast<JobPhase>(static_cast<int>(JobPhase::Succeeded) + static_cast<int>(outcome));
}

Outcome outcome_of(JobPhase phase) {
  BERTH_CHECK(!is_live(phase));
  return static_cast<Outcome>(static_cast<int>(phase) - static_cast<int>(JobPhase::Succeeded));
}

std::string_view phase_name(JobPhase phase) {
  switch (phase) {
    case JobPhase::Held:
      return "held";
    case JobPhase::Queued:
      return "queued";
    case JobPhase::Starting:
      return "starting";
    case JobPhase::Running:
      return "running";
    case JobPhase::Succeeded:
    case JobPhase::Failed:
    case JobPhase::Cancelled:
    case JobPhase::TimedOut:
    case JobPhase::Oom:
    case JobPhase::Lost:
      return outcome_name(outcome_of(phase));
  }
  return "";
}

static_assert(static_cast<int>(Outcome::Succeeded) == 0 && static_cast<int>(Outcome::Lost) == 5,
              "the order of outcomes is on disk");
static_assert(static_cast<int>(EndReason::Exited) == 0 &&
                  static_cast<int>(EndReason::NotStarted) == 4,
              "the order of reasons is on disk");

}  // namespace berth
