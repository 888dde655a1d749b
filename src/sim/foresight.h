// Foresight: what a live berth would have foretold in a simulation, held against what came. Nobody
// says how long jobs take: lengths are learned from those that have ended, and passed on to those
// that wait, as live. Now and then all starts are forecast, as the daemon does. Owned by one run;
// the simulation tells it what happens.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "core/length_learner.h"
#include "core/start_intervals.h"
#include "sim/workload.h"

namespace berth {

/// How intervals that were promised to hold a value nine times of ten did so.
class IntervalFigures {
 public:
  void count(double low, double high, double value);

  std::size_t promised() const { return promises_.size(); }
  double coverage() const;
  double median_width_s() const { return median_width_s(1); }
  /// The same if every interval were stretched by the least factor with which this share of the
  /// values had been held. In hindsight, to compare with intervals that hold as often.
  double median_width_at_s(double coverage) const;

 private:
  struct Promise {
    double low = 0;
    double high = 0;
    double value = 0;
  };
  double median_width_s(double stretch) const;

  std::vector<Promise> promises_;
};

struct ForesightOptions {
  /// A fresh policy of the kind that decides.
  std::function<std::unique_ptr<Policy>()> policy;
  Time from{};                               // forecasts before this teach, but do not count
  Duration between = std::chrono::hours(1);  // forecasts
};

class Foresight {
 public:
  Foresight(const Workload& workload, ForesightOptions options);

  /// A job comes: how long it is expected to run.
  Duration expected(std::uint32_t job) const;
  void waits(std::uint32_t job, const Scheduler& scheduler);
  void started(std::uint32_t job, Time at);
  void ended(std::uint32_t job, Duration ran);
  /// What has been learned about waiting jobs since.
  std::vector<Reestimate> changes(const Scheduler& scheduler);
  /// The scheduler has decided: forecasts the starts of those that wait, if that is due.
  void look(const Scheduler& scheduler, Time now);

  /// The first interval that each job was given.
  const IntervalFigures& starts() const { return starts_; }
  /// For comparison, of the same jobs: as long as nine tenths of their recipe's last jobs waited.
  const IntervalFigures& raw_starts() const { return raw_starts_; }
  const IntervalFigures& lengths() const { return lengths_; }

 private:
  struct Promise {
    Time made;
    StartInterval interval;
    StartInterval raw;
  };
  StartInterval raw_interval(std::uint32_t job, Time now) const;

  const Recipe& recipe_of(std::uint32_t job) const { return recipes_[recipe_by_job_[job]]; }

  const Workload& workload_;
  ForesightOptions options_;
  LengthLearner learner_;
  StartIntervals intervals_;
  std::vector<Recipe> recipes_;       // all that there are
  std::vector<RecentLengths> waits_;  // of each
  std::vector<std::uint32_t> recipe_by_job_;
  std::map<JobId, Promise> promises_;
  Time next_look_{};
  IntervalFigures starts_;
  IntervalFigures raw_starts_;
  IntervalFigures lengths_;
};

}  // namespace berth
