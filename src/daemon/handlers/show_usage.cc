#include <fmt/format.h>

#include "base/units.h"
#include "daemon/handlers/jobs.h"

namespace berth {

void show_usage(Desk& desk, const UsageBook& usage, RoutedRequest asked) {
  const Result<std::int64_t> attempt =
      parse_integer(asked.request.parameter("attempt").value_or("0"), "attempt");
  const Result<JobRecord> record = desk.store.jobs().record(asked.job);
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
  UsageReply reply;
  reply.attempt = chosen;
  for (std::size_t i = 0; i < log.points(); ++i) {
    reply.times.push_back(seconds(log.time(i)));
  }
  for (std::size_t device = 0; device < log.devices().size(); ++device) {
    UsageReply::Device& curves = reply.devices.emplace_back();
    curves.name = log.devices()[device];
    for (std::size_t i = 0; i < log.points(); ++i) {
      curves.memory.push_back(log.memory(i, device));
      curves.utilization.push_back(log.utilization(i, device));
    }
  }
  desk.answer(std::move(asked.reply), json(to_json(reply)));
}

}  // namespace berth
