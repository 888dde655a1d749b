#include "daemon/job_pauses.h"

#include "base/process_facts.h"

namespace berth {
namespace {

constexpr Duration kPauseLook = std::chrono::milliseconds(5);
constexpr Duration kLongestPause = std::chrono::seconds(5);  // that stopping a job may take

}  // namespace

void JobPauses::told(JobId job, bool stopped, Time at) {
  pausing_[job] = {stopped, at + kLongestPause};
}

void JobPauses::settle(Time at) {
  std::erase_if(pausing_, [&](const auto& entry) {
    const auto& [id, pausing] = entry;
    const DrivenAttempt* attempt = driver_.attempts().find(id);
    const bool waits =
        attempt != nullptr && at < pausing.until && is_stopped(attempt->pid) != pausing.stopped;
    if (!waits) {
      events_.job_changed(id);
    }
    return !waits;
  });
}

Time JobPauses::due(Time at) const { return pausing_.empty() ? kNever : at + kPauseLook; }

bool JobPauses::is_stopped(pid_t pid) {
  const std::optional<ProcStat> stat = pid > 0 ? read_proc_stat(pid) : std::nullopt;
  return stat && stat->state == 'T';
}

}  // namespace berth
