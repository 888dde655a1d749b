#include "core/job_spec.h"

namespace berth {

bool satisfied(Dependency::When when, Outcome outcome) {
  switch (when) {
    case Dependency::When::Ok:
      return outcome == Outcome::Succeeded;
    case Dependency::When::NotOk:
      return outcome != Outcome::Succeeded;
    case Dependency::When::Any:
      return true;
  }
  return false;
}

std::string_view outcome_name(Outcome outcome) {
  switch (outcome) {
    case Outcome::Succeeded:
      return "succeeded";
    case Outcome::Failed:
      return "failed";
    case Outcome::Cancelled:
      return "cancelled";
    case Outcome::TimedOut:
      return "timed_out";
    case Outcome::Oom:
      return "oom";
    case Outcome::Lost:
      return "lost";
  }
  return "";
}

}  // namespace berth
