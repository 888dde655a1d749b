#include "daemon/job_pauses.h"

#include <algorithm>

#include "base/process_facts.h"

namespace berth {
namespace {

constexpr Duration kLongestPause = std::chrono::seconds(5);      // that stopping a job may take
constexpr Duration kUsualPause = std::chrono::milliseconds(50);  // that it takes mostly

}  // namespace

void JobPauses::told(JobId job, bool stopped, bool heard, Time at) {
  const DrivenAttempt* attempt = driver_.attempts().find(job);
  if (attempt == nullptr || is_stopped(attempt->pid) == stopped) {
    pausing_.erase(job);
    events_.job_changed(job);
    return;
  }
  pausing_[job] = at + (heard ? kLongestPause : kUsualPause);
}

void JobPauses::settled(JobId job) {
  pausing_.erase(job);
  events_.job_changed(job);
}

void JobPauses::expire(Time at) {
  std::erase_if(pausing_, [&](const auto& entry) {
    const auto& [job, until] = entry;
    if (until > at) {
      return false;
    }
    events_.job_changed(job);
    return true;
  });
}

Time JobPauses::due() const {
  const auto first = std::min_element(pausing_.begin(), pausing_.end(),
                                      [](auto& a, auto& b) { return a.second < b.second; });
  return first == pausing_.end() ? kNever : first->second;
}

bool JobPauses::is_stopped(pid_t pid) {
  const std::optional<ProcStat> stat = pid > 0 ? read_proc_stat(pid) : std::nullopt;
  return stat && stat->state == 'T';
}

}  // namespace berth
