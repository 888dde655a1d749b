#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "base/units.h"
#include "daemon/handlers/jobs.h"

namespace berth {

void read_job_log(Desk& desk, LogReader& logs, RoutedRequest asked) {
  const HttpRequest& request = asked.request;
  const JobId id = asked.job;
  const auto number = [&](std::string_view name, std::string_view otherwise) {
    return parse_integer(request.parameter(name).value_or(otherwise), name);
  };
  const Result<std::int64_t> attempt = number("attempt", "0");
  const Result<std::int64_t> offset = number("offset", "0");
  const Result<std::int64_t> tail = number("tail", "-1");
  for (const auto* value : {&attempt, &offset, &tail}) {
    if (!*value) {
      return desk.answer(std::move(asked.reply), failed(value->error()));
    }
  }
  const Result<JobRecord> record = desk.store.jobs().record_without_environment(id);
  if (!record) {
    return desk.answer(std::move(asked.reply), failed(record.error()));
  }
  if (!desk.may_change(request.peer, record->description.user)) {
    desk.note_refusal(request.peer, "to read the output of jobs of others");
    return desk.answer(
        std::move(asked.reply),
        failed({ErrorCode::Refused, fmt::format("job {} is another user's", id.value)}));
  }
  // No number means the newest; one that has not begun yet can be waited for.
  Result<std::optional<StoredAttempt>> chosen = std::optional<StoredAttempt>();
  if (const std::int64_t which = *attempt == 0 ? record->attempt : *attempt;
      which > 0 && which <= std::numeric_limits<std::uint16_t>::max()) {
    chosen = desk.store.attempts().find(id, static_cast<std::uint16_t>(which));
  }
  if (!chosen) {
    return desk.answer(std::move(asked.reply), failed(chosen.error()));
  }
  LogRequest wanted;
  wanted.job = id;
  wanted.user = record->description.user;
  wanted.offset = static_cast<std::uint64_t>(std::max<std::int64_t>(0, *offset));
  wanted.tail = *tail;
  wanted.wait = request.parameter("wait").value_or("0") == "1";
  if (*chosen) {
    const StoredAttempt& found = **chosen;
    const bool errors = request.parameter("stream").value_or("out") == "err";
    wanted.attempt = found.attempt;
    wanted.path = errors && !found.stderr_path.empty() ? found.stderr_path : found.stdout_path;
    wanted.over = found.ending.has_value();
  } else if (!is_live(record->phase)) {
    return desk.answer(
        std::move(asked.reply),
        failed({ErrorCode::NotFound,
                *attempt == 0 ? fmt::format("job {} never ran", id.value)
                              : fmt::format("job {} has had no attempt {}", id.value, *attempt)}));
  }
  desk.turns.after_commit([&desk, &logs,
                           held = std::make_shared<Turns::Reply>(std::move(asked.reply)),
                           wanted] { logs.read(wanted, std::move(*held), desk.now()); });
}

}  // namespace berth
