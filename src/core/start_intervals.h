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
// The newest errors alone do not keep a promise: a thousand jobs of one burst err alike, and they
// are unlike those before. So what was promised is held against what came, for each end of the
// intervals apart (conformal PID control: Angelopoulos, Candès and Tibshirani, 2023; here its
// tracking of a quantile, with a leak). Each job that starts beyond its end moves that end of all
// later intervals outwards by a little, and each one that does not, inwards by a nineteenth of
// that, so that both balance when one in twenty starts beyond it. The moves are in logarithms of
// the wait, and common to all bands: intervals can become wider than any error that was seen, and a
// burst in one band warns the others. A job counts as soon as it is known on which side it falls:
// one that still waits when its interval begins did not start before it.
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

  /// The first interval that a job was given, and which of its ends the job has not been held
  /// against.
  struct Given {
    StartInterval interval;
    bool from_open = true;
    bool to_open = true;
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
  void judge(Given& given, Time now, bool starts);
  void judge_those_that_wait(Time now);
  void learn(double& moved, bool missed) const;
  static std::size_t band_of(Duration wait);
  static Duration apart(std::size_t band);
  static bool has_note(const std::vector<Note>& notes, std::size_t band);

  double coverage_;
  double from_moved_ = 0;  // outwards
  double to_moved_ = 0;
  Time judged_{};
  std::array<std::deque<double>, kBands> errors_;  // logarithms of ratios, the newest last
  std::array<Sample, kBands> samples_;
  std::map<JobId, std::vector<Note>> notes_;
  std::map<JobId, Given> given_;
  Random random_{1};
};

}  // namespace berth
