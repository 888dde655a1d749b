#include "daemon/handlers/totals.h"

#include <algorithm>

#include "daemon/handlers/time_parameter.h"

namespace berth {
namespace {

constexpr std::size_t kEndsAtOnce = 50;

}  // namespace

struct TotalsHandler::Totals {
  Time since{};
  Time begun{};
  TotalsReply sums;
  PhaseCounts ended{};
  AttemptCursor attempt;
  EndCursor end{JobId{}, kNever};
  Turns::Reply reply;

  /// Of an attempt that began earlier, the part since then counts.
  void add(Time start, Time until, std::size_t devices, std::optional<double> joules) {
    sums.started += start != kNever && start >= since ? 1 : 0;
    if (until <= start) {
      return;  // it never ran, or for no time at all
    }
    const double length = to_seconds(until - start);
    const double part = std::max(0.0, to_seconds(until - std::max(start, since)));
    sums.gpu_seconds += part * static_cast<double>(devices);
    sums.energy += joules.value_or(0) * part / length;
  }
};

void TotalsHandler::handle(RoutedRequest asked) {
  const Result<Time> since = time_parameter(asked.request, "since", Time{});
  if (!since) {
    return desk_.answer(std::move(asked.reply), failed(since.error()));
  }
  if (kept_since_ == *since && kept_.fresh(desk_.now())) {
    return desk_.answer(std::move(asked.reply), json(kept_.text));
  }
  auto totals = std::make_shared<Totals>();
  totals->since = *since;
  totals->begun = desk_.now();
  totals->reply = std::move(asked.reply);
  desk_.turns.in_pieces([this, totals] {
    if (totals->reply->gone()) {
      return false;
    }
    const Result<bool> more = desk_.store.walks().attempts(
        totals->attempt, totals->since, kNever, kEndsAtOnce, [&](const EndedAttempt& each) {
          const StoredAttempt& attempt = each.attempt;
          totals->add(attempt.started, attempt.ending->ended, attempt.devices.size(),
                      attempt.ending->energy);
        });
    if (more && *more) {
      return true;
    }
    if (!more) {
      desk_.answer(std::move(totals->reply), failed(more.error()));
    } else {
      count_ends(totals);
    }
    return false;
  });
}

void TotalsHandler::count_ends(const std::shared_ptr<Totals>& totals) {
  desk_.turns.in_pieces([this, totals] {
    if (totals->reply->gone()) {
      return false;
    }
    const Result<bool> more = desk_.store.walks().ends(
        totals->end, totals->since, kEndsAtOnce,
        [&](JobPhase phase) { ++totals->ended[static_cast<std::size_t>(phase)]; });
    if (more && *more) {
      return true;
    }
    if (!more) {
      desk_.answer(std::move(totals->reply), failed(more.error()));
      return false;
    }
    finish(*totals);
    return false;
  });
}

/// Those that run count, too.
void TotalsHandler::finish(Totals& totals) {
  for (const JobId id : desk_.scheduler().running()) {
    const auto* running = std::get_if<Running>(&desk_.scheduler().find(id)->state);
    const DrivenAttempt* attempt = desk_.driver.attempts().find(id);
    if (running != nullptr && attempt != nullptr) {
      totals.add(running->since, desk_.now(), running->devices.size(), attempt->energy);
    }
  }
  for (std::size_t i = 0; i < kPhases; ++i) {
    if (const auto phase = static_cast<JobPhase>(i); !is_live(phase)) {
      totals.sums.ended.emplace(phase_name(phase), totals.ended[i]);
    }
  }
  kept_since_ = totals.since;
  kept_ = {to_json(totals.sums), desk_.now(), desk_.now() - totals.begun};
  desk_.answer(std::move(totals.reply), json(kept_.text));
}

}  // namespace berth
