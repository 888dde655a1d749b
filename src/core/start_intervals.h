// StartIntervals: how far forecasts of starts can be trusted. A forecast is only as good as the
// lengths that it assumes, and later jobs may overtake. So forecasts are noted, their errors are
// learned when the jobs start, and the interval around the next forecast follows from them.
//
// An error is the ratio of the wait to the wait that was forecast. Forecasts that reach far err
// differently from near ones, so they are kept in bands, each reaching twice as far as the one
// before. Only the newest errors of a band count, because machines and their users change.
//
// A burst of jobs waits for the same few ends, so forecasts of its starts err together: a hundred
// of them would say no more than one. So one job of a band stands for each forecast, drawn by lot,
// and forecasts that reach far count only some time apart.
//
// What was promised is held against what came, too (adaptive conformal inference, Gibbs and Candès,
// 2021): when fewer jobs start outside of their first intervals than may, the intervals of that
// band become narrower, when more do, wider. So the promise is kept in the long run even where new
// errors are unlike old ones.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "base/ids.h"
#include "base/random.h"
#include "base/time.h"
#include "core/recipe_lengths.h"

namespace berth {

struct StartInterval {
  Time from;
  Time to;

  bool holds(Time start) const { return from <= start && start <= to; }
};

class StartIntervals {
 public:
  static constexpr std::size_t kLeastErrors = 20;
  static constexpr std::size_t kMostJobs = 2000;  // whose forecasts are noted

  explicit StartIntervals(double coverage = kUsualCoverage);

  /// Around a start that was forecast at `now`. Nothing: the band has fewer than kLeastErrors.
  std::optional<StartInterval> around(Time start, Time now) const;
  /// How often a start lies within its interval.
  double coverage() const { return coverage_; }

  /// It was forecast at `now` that this waiting job will start at `start`. Tell it of all jobs of
  /// the forecast, one after the other. A job counts once in each band.
  void note(JobId job, Time start, Time now);
  /// The job has started, so its forecasts are judged.
  void started(JobId job, Time at);
  /// Forgets the notes about jobs that no longer wait.
  void keep(const std::function<bool(JobId)>& waits);

  std::size_t noted() const { return notes_.size(); }

 private:
  static constexpr std::size_t kBands = 16;
  static constexpr std::size_t kMostErrors = 100;  // of a band

  /// How often starts of a band are to lie before and behind the middle errors, so that they lie
  /// outside of their intervals as often as they may.
  struct Tails {
    double before;
    double behind;
  };

  /// The first interval that a job was given.
  struct Given {
    std::uint8_t band = 0;
    StartInterval interval;
  };

  struct Note {
    std::uint8_t band = 0;
    Time start;
    Time now;
  };

  /// The job that stands for the newest forecast of a band.
  struct Sample {
    Time at;
    std::uint64_t seen = 0;  // jobs that could have been drawn
    JobId job;
  };

  void give(JobId job, Time start, Time now);
  void judge(const Given& given, Time at);
  static std::size_t band_of(Duration wait);
  static Duration apart(std::size_t band);
  static bool has_note(const std::vector<Note>& notes, std::size_t band);

  double coverage_;
  std::array<Tails, kBands> tails_;
  std::array<std::deque<double>, kBands> errors_;  // logarithms of ratios, the newest last
  std::array<Sample, kBands> samples_;
  std::map<JobId, std::vector<Note>> notes_;
  std::map<JobId, Given> given_;
  Random random_{1};
};

}  // namespace berth
