#include "run/wait_notices.h"

namespace berth {

void WaitNotices::tell(const Scheduler& scheduler, Time at) {
  if (scheduler.waiting() == 0) {
    return;
  }
  for (const auto& [device, obstacle] : std::exchange(blocked_, {})) {
    const std::string& gpu = devices_[device.value].spec.name;
    if (!scheduler.devices()[device].taken ||
        !told_.insert({device, obstacle.holder.has_value()}).second) {
      continue;
    }
    if (obstacle.holder) {
      observer_.device_taken(gpu, *obstacle.holder);
    } else {
      observer_.warning(describe(obstacle, gpu) + "; trying again");
    }
  }
  const auto& heads = scheduler.queue().heads();
  if (scheduler.running().empty() && !scheduler.paused() && !heads.empty()) {
    std::string why = describe(scheduler.explain(heads.begin()->first.job, at), at);
    if (why != stalled_) {
      stalled_ = std::move(why);
      observer_.stalled(stalled_);
    }
  }
}

}  // namespace berth
