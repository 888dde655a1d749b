// Forecast: what would start when, if every estimate were right. The same scheduler plays the queue
// forward on a copy of itself, so a forecast can differ from what will happen only where the
// estimates do. The forecast advances moment by moment, so that a caller with other clients to
// serve can stop and go on. It ends after a fixed number of moments, whatever the policy does.
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
  Time end = kNever;  // kNever: unknown
  std::vector<DeviceId> devices;
};

class Forecast {
 public:
  using Runs = std::map<JobId, ExpectedRun>;

  /// Advances to the next moment at which something happens; false when that was the last.
  bool advance();
  /// Advances to the end.
  Runs finish();
  /// The jobs found to start so far.
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
