// GET /v1/totals: what has been run and used since some time.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/units.h"
#include "daemon/daemon.h"
#include "daemon/replies.h"

namespace berth {
namespace {

constexpr std::size_t kEndsAtOnce = 50;

}  // namespace

struct Daemon::Totals {
  Time since{};
  Time begun{};
  double gpu_seconds = 0;
  double energy = 0;
  std::uint64_t started = 0;
  PhaseCounts ended{};
  AttemptCursor attempt;
  EndCursor end{JobId{}, kNever};
  Reply reply;

  /// Of an attempt that began earlier, the part since then counts.
  void add(Time start, Time until, std::size_t devices, std::optional<double> joules) {
    started += start != kNever && start >= since ? 1 : 0;
    if (until <= start) {
      return;  // it never ran, or for no time at all
    }
    const double length = to_seconds(until - start);
    const double part = std::max(0.0, to_seconds(until - std::max(start, since)));
    gpu_seconds += part * static_cast<double>(devices);
    energy += joules.value_or(0) * part / length;
  }
};

void Daemon::totals(Asked asked) {
  const Result<Time> since = time_parameter(asked.request, "since", Time{});
  if (!since) {
    return answer(std::move(asked.reply), failed(since.error()));
  }
  if (totals_since_ == *since && totals_.fresh(now())) {
    return answer(std::move(asked.reply), json(totals_.text));
  }
  auto totals = std::make_shared<Totals>();
  totals->since = *since;
  totals->begun = now();
  totals->reply = std::move(asked.reply);
  in_pieces([this, totals] {
    if (totals->reply->gone()) {
      return false;
    }
    const Result<bool> more = store_->walk_attempts(
        totals->attempt, totals->since, kNever, kEndsAtOnce, [&](const EndedAttempt& each) {
          const StoredAttempt& attempt = each.attempt;
          totals->add(attempt.started, attempt.ending->ended, attempt.devices.size(),
                      attempt.ending->energy);
        });
    if (more && *more) {
      return true;
    }
    if (!more) {
      answer(std::move(totals->reply), failed(more.error()));
    } else {
      count_ends(totals);
    }
    return false;
  });
}

void Daemon::count_ends(const std::shared_ptr<Totals>& totals) {
  in_pieces([this, totals] {
    if (totals->reply->gone()) {
      return false;
    }
    const Result<bool> more = store_->walk_ends(
        totals->end, totals->since, kEndsAtOnce,
        [&](JobPhase phase) { ++totals->ended[static_cast<std::size_t>(phase)]; });
    if (more && *more) {
      return true;
    }
    if (!more) {
      answer(std::move(totals->reply), failed(more.error()));
      return false;
    }
    for (const JobId id : scheduler().running()) {
      const auto* running = std::get_if<Running>(&scheduler().find(id)->state);
      const DrivenAttempt* attempt = driver_->attempt(id);
      if (running != nullptr && attempt != nullptr) {
        totals->add(running->since, now(), running->devices.size(), attempt->energy);
      }
    }
    std::vector<std::string> ended;
    for (std::size_t i = 0; i < kPhases; ++i) {
      if (const auto phase = static_cast<JobPhase>(i); !is_live(phase)) {
        ended.push_back(fmt::format(R"("{}":{})", phase_name(phase), totals->ended[i]));
      }
    }
    totals_since_ = totals->since;
    totals_ = {
        fmt::format(R"({{"version":1,"gpu_seconds":{},"energy_j":{},"started":{},"ended":{{{}}}}})",
                    totals->gpu_seconds, totals->energy, totals->started, fmt::join(ended, ",")),
        now(), now() - totals->begun};
    answer(std::move(totals->reply), json(totals_.text));
    return false;
  });
}

/// Seconds since 1970.
Result<Time> Daemon::time_parameter(const HttpRequest& request, std::string_view name,
                                    Time otherwise) {
  constexpr double kMost = 9e9;
  const std::optional<std::string_view> text = request.parameter(name);
  if (!text) {
    return otherwise;
  }
  const Result<double> seconds = parse_real(*text, name);
  if (!seconds) {
    return Failure(seconds.error());
  }
  if (!(*seconds >= 0 && *seconds <= kMost)) {
    return fail(ErrorCode::Usage, fmt::format("{} is in seconds since 1970", name));
  }
  return Time(Duration(static_cast<std::int64_t>(*seconds * 1e9)));
}

}  // namespace berth
