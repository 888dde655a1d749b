// ForecastBook: when waiting jobs are expected to start, and when that was forecast. A forecast of
// a long queue takes a while, so it is played in pieces, and the previous one is used meanwhile. A
// forecast is kept until it is twenty times as old as it took to compute, so that forecasts take at
// most a twentieth of the time.
#pragma once

#include <functional>
#include <optional>

#include "core/forecast.h"

namespace berth {

/// How many jobs of the queue a forecast follows.
inline constexpr std::size_t kForecastJobs = 1000;

class ForecastBook {
 public:
  using Clock = std::function<Time()>;

  /// Something has happened that may change the forecast.
  void outdate() { stale_ = true; }
  /// Whether it is time for a new forecast.
  bool due(Time now) const { return !playing_ && stale_ && now - at_ >= kRest * took_; }

  /// Begins to play a forecast of the queue at `begun`. Making the forecast took until `now`.
  void begin(Forecast forecast, Time begun, Time now);
  /// Plays for about `at_most`. False when the forecast is played to the end.
  bool play(Duration at_most, const Clock& now);

  const Forecast::Runs& runs() const { return runs_; }
  /// When the last job that was followed is expected to start.
  Time last_start() const { return last_start_; }
  /// The time as of which runs() was forecast.
  Time at() const { return at_; }

 private:
  static constexpr int kRest = 20;

  std::optional<Forecast> playing_;
  Time begun_{};  // of the forecast that is being played
  Duration spent_{};
  Forecast::Runs runs_;
  Time at_{};
  Time last_start_{};
  Duration took_{};
  bool stale_ = true;
};

}  // namespace berth
