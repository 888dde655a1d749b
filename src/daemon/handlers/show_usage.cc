#include <fmt/format.h>

#include "base/units.h"
#include "daemon/handlers/jobs.h"

namespace berth {

void show_usage(Desk& desk, const UsageBook& usage, RoutedRequest asked) {
  const Result<std::int64_t> attempt =
      parse_integer(asked.request.parameter("attempt").value_or("0"), "attempt");
  const Result<JobRecord> record = desk.store.job(asked.job);
  if (record && !desk.privacy.sees(asked.request.peer.uid, record->description.user)) {
    return desk.answer(
        std::move(asked.reply),
        failed({ErrorCode::Refused, fmt::format("job {} is another user's", asked.job.value)}));
  }
  if (!attempt || !record) {
    return desk.answer(std::move(asked.reply), failed(attempt ? record.error() : attempt.error()));
  }
  if (*attempt < 0 || *attempt > record->attempt) {
    return desk.answer(std::move(asked.reply),
                       failed({ErrorCode::NotFound, fmt::format("job {} has had no attempt {}",
                                                                asked.job.value, *attempt)}));
  }
  const auto chosen = static_cast<std::uint16_t>(*attempt == 0 ? record->attempt : *attempt);
  const std::optional<UsageLog> found = usage.find({asked.job, chosen});
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
  desk.answer(std::move(asked.reply),
              json(fmt::format(R"({{"version":1,"attempt":{},"times":[{}],"devices":[{}]}})",
                               chosen, fmt::join(times, ","), fmt::join(devices, ","))));
}

}  // namespace berth
