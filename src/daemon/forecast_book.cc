#include "daemon/forecast_book.h"

#include <algorithm>
#include <utility>

namespace berth {

void ForecastBook::begin(Forecast forecast, Time begun, Time now) {
  playing_.emplace(std::move(forecast));
  begun_ = begun;
  spent_ = now - begun;
  stale_ = false;
}

bool ForecastBook::play(Duration at_most, const Clock& now) {
  const Time start = now();
  while (playing_ && now() - start < at_most) {
    if (playing_->advance()) {
      continue;
    }
    runs_ = playing_->take();
    playing_.reset();
    at_ = begun_;
    last_start_ = {};
    for (const auto& [job, run] : runs_) {
      last_start_ = std::max(last_start_, run.start);
    }
  }
  spent_ += now() - start;
  took_ = spent_;
  return playing_.has_value();
}

}  // namespace berth
