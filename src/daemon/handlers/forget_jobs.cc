#include "base/units.h"
#include "daemon/handlers/jobs.h"
#include "daemon/job_choice.h"

namespace berth {
namespace {

/// Each is written down.
constexpr std::size_t kForgottenAtOnce = 20;
constexpr Duration kForgetInOneGo = std::chrono::milliseconds(5);

struct Forgetting {
  ForgetQuery query;
  std::size_t forgotten = 0;
  Turns::Reply reply;
};

bool continue_forgetting(Desk& desk, const LogFolder& logs, UsageBook& usage,
                         Forgetting& forgetting) {
  constexpr std::size_t kMostAtOnce = 1000;
  if (forgetting.reply->gone()) {
    return false;
  }
  Result<Forgotten> forgotten = desk.store.jobs().forget(forgetting.query);
  if (!forgotten) {
    desk.answer(std::move(forgetting.reply), failed(forgotten.error()));
    return false;
  }
  forgetting.forgotten += forgotten->jobs.size();
  if (!forgotten->jobs.empty()) {
    desk.turns.after_commit([&logs, &usage, attempts = std::move(forgotten->attempts)] {
      logs.remove(attempts);
      for (const ForgottenAttempt& each : attempts) {
        usage.remove({each.job, each.attempt});
      }
    });
  }
  forgetting.query.after = forgotten->next;
  if (forgotten->next && forgetting.forgotten < kMostAtOnce) {
    return true;
  }
  if (forgetting.forgotten > 0) {
    desk.events.announce("forgotten", to_json(ForgottenEvent{forgetting.forgotten}));
  }
  desk.answer(std::move(forgetting.reply),
              json(to_json(ForgetReply{forgetting.forgotten, forgotten->next.has_value()})));
  return false;
}

}  // namespace

void forget_jobs(Desk& desk, const LogFolder& logs, UsageBook& usage, RoutedRequest asked) {
  const HttpRequest& request = asked.request;
  if (!desk.may_change(request.peer, ::getuid())) {
    return desk.answer(
        std::move(asked.reply),
        failed({ErrorCode::Refused, "only the daemon's own user may make it forget jobs"}));
  }
  const Result<Duration> older = parse_duration(request.parameter("older").value_or("0s"));
  const Result<JobFilter> filter = choose_jobs(desk, request);
  if (!older || !filter) {
    return desk.answer(std::move(asked.reply), failed(!older ? older.error() : filter.error()));
  }
  if (!filter->ids.empty() || !filter->or_named.empty() || !filter->names.empty() ||
      filter->project || filter->sweep || filter->user || !filter->labels.empty()) {
    return desk.answer(std::move(asked.reply),
                       failed({ErrorCode::Usage, "jobs are forgotten by age and state alone"}));
  }
  auto forgetting = std::make_shared<Forgetting>();
  forgetting->query.ended_before = desk.now() - *older;
  forgetting->query.phases = filter->phases;
  forgetting->query.limit = kForgottenAtOnce;
  forgetting->reply = std::move(asked.reply);
  desk.turns.write_in_pieces(
      [&desk, &logs, &usage, forgetting] {
        return continue_forgetting(desk, logs, usage, *forgetting);
      },
      kForgetInOneGo);
}

}  // namespace berth
