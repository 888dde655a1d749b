// ForecastBook: when waiting jobs are expected to start, and since when that is known. A forecast
// of a long queue takes a while: it is played in pieces, and the one before is used meanwhile; and
// it is kept until it is twenty times as old as it took to find, so that at most a part in twenty
// of the time goes there.
#pragma once

#include <functional>
#include <optional>

#include "core/forecast.h"

namespace berth {

/// How far ahead the queue is played.
inline constexpr std::size_t kForecastJobs = 1000;

class ForecastBook {
 public:
  using Clock = std::function<Time()>;

  /// Something has happened that may change it.
  void outdate() { stale_ = true; }
  /// Whether it is time for a new one.
  bool due(Time now) const { return !playing_ && stale_ && now - at_ >= kRest * took_; }

  /// Of the queue at `begun`; to make it took until now.
  void begin(Forecast forecast, Time begun, Time now);
  /// Goes on for about so long; false when it is played to the end.
  bool play(Duration at_most, const Clock& now);

  const Forecast::Runs& runs() const { return runs_; }
  /// When the last of those that were followed is expected to start.
  Time last_start() const { return last_start_; }
  /// As of then.
  Time at() const { return at_; }

 private:
  static constexpr int kRest = 20;

  std::optional<Forecast> playing_;
  Time begun_{};  // the one that is being played
  Duration spent_{};
  Forecast::Runs runs_;
  Time at_{};
  Time last_start_{};
  Duration took_{};
  bool stale_ = true;
};

}  // namespace berth
