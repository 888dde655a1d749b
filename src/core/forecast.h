// Forecast: what would start when, if every estimate were right. The same scheduler plays the queue
// forward on a copy of itself, so a forecast can differ from what will happen only where the
// estimates do. It is played moment by moment, so that a caller who has others to serve can stop
// and go on; it ends after so many moments, whatever the policy does.
#pragma once

#include <map>
#include <memory>
#include <queue>
#include <vector>

#include "core/scheduler.h"

namespace berth {

/// What a waiting job is expected to do, if every estimate were right.
struct ExpectedRun {
  Time start;
  Time end = kNever;  // kNever: nobody can tell
  std::vector<DeviceId> devices;
};

class Forecast {
 public:
  using Runs = std::map<JobId, ExpectedRun>;

  /// On to the next moment at which something happens; false when that was the last.
  bool advance();
  /// To the end.
  Runs finish();
  /// The jobs that are known to start, so far.
  Runs take() { return std::move(runs_); }

 private:
  friend class Scheduler;
  /// `copy`: nullptr when nothing will start.
  Forecast(std::unique_ptr<Scheduler> copy, Duration guess, Time now);

  void decide();
  void await_end(const Job& job, Time since);

  using End = std::pair<Time, JobId>;
  std::unique_ptr<Scheduler> copy_;
  Duration guess_;
  Time at_;
  int moments_ = 0;
  std::priority_queue<End, std::vector<End>, std::greater<>> ends_;
  Runs runs_;
};

}  // namespace berth
