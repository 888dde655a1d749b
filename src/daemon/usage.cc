// GET /v1/jobs/{id}/usage: what an attempt used of its devices over time.
#include <fmt/format.h>

#include <algorithm>

#include "base/units.h"
#include "daemon/daemon.h"
#include "daemon/replies.h"

namespace berth {

/// After a reading of the devices.
void Daemon::note_usage(Time at) {
  for (const JobId id : scheduler().running()) {
    const Job& job = *scheduler().find(id);
    const auto* running = std::get_if<Running>(&job.state);
    if (running == nullptr || running->devices.empty()) {
      continue;
    }
    std::vector<UsageLog::Reading> readings;
    for (const DeviceId device : running->devices) {
      const DeviceState& state = driver_->devices().states()[device.value];
      const auto used = state.use.jobs.find(id);
      readings.push_back({used == state.use.jobs.end() ? Bytes{} : used->second,
                          state.sample ? state.sample->utilization : std::nullopt});
    }
    usage_.add({id, job.attempt}, names_of(running->devices), at, readings);
  }
}

/// It is put on disk with the files that clients wait less for.
void Daemon::end_usage(JobId job, std::uint16_t attempt) {
  after_commit([this, ended = UsageBook::Attempt{job, attempt}] { usage_.end(ended); });
}

void Daemon::usage(Asked asked) {
  const Result<std::int64_t> attempt =
      parse_integer(asked.request.parameter("attempt").value_or("0"), "attempt");
  const Result<JobRecord> record = store_->job(asked.job);
  if (record && !privacy_.sees(user_of(asked.request.peer), record->description.user)) {
    return answer(
        std::move(asked.reply),
        failed({ErrorCode::Refused, fmt::format("job {} is another user's", asked.job.value)}));
  }
  if (!attempt || !record) {
    return answer(std::move(asked.reply), failed(attempt ? record.error() : attempt.error()));
  }
  if (*attempt < 0 || *attempt > record->attempt) {
    return answer(std::move(asked.reply),
                  failed({ErrorCode::NotFound,
                          fmt::format("job {} has had no attempt {}", asked.job.value, *attempt)}));
  }
  const auto chosen = static_cast<std::uint16_t>(*attempt == 0 ? record->attempt : *attempt);
  const std::optional<UsageLog> found = usage_.find({asked.job, chosen});
  const UsageLog log = found.value_or(UsageLog({}));
  std::vector<std::string> times;
  for (std::size_t i = 0; i < log.points(); ++i) {
    times.push_back(fmt::format("{:.1f}", seconds(log.time(i))));
  }
  std::vector<std::string> devices;
  for (std::size_t device = 0; device < log.devices().size(); ++device) {
    std::vector<std::string> memory;
    std::vector<std::string> busy;
    for (std::size_t i = 0; i < log.points(); ++i) {
      memory.push_back(std::to_string(log.memory(i, device).count));
      const std::optional<double> percent = log.utilization(i, device);
      busy.push_back(percent ? fmt::format("{:.1f}", *percent) : "null");
    }
    devices.push_back(fmt::format(R"({{"name":{},"memory_bytes":[{}],"utilization_percent":[{}]}})",
                                  quote(log.devices()[device]), fmt::join(memory, ","),
                                  fmt::join(busy, ",")));
  }
  answer(std::move(asked.reply),
         json(fmt::format(R"({{"version":1,"attempt":{},"times":[{}],"devices":[{}]}})", chosen,
                          fmt::join(times, ","), fmt::join(devices, ","))));
}

}  // namespace berth
