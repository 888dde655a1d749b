#include "core/start_intervals.h"

#include <algorithm>
#include <cmath>

namespace berth {
namespace {

/// Added to each wait, so that a few seconds more or less do not count as a large ratio.
constexpr double kMinute = 60;

double stretched(Duration wait) { return std::max(0.0, to_seconds(wait)) + kMinute; }

Duration as_wait(double seconds) {
  constexpr double kMost = 3e9;  // a hundred years
  return std::chrono::duration_cast<Duration>(
      std::chrono::duration<double>(std::clamp(seconds - kMinute, 0.0, kMost)));
}

/// How far a job moves an end that it starts beyond, in logarithms of the wait.
constexpr double kStep = 1.0 / 150;
/// Ends move no further than this, and forget their moves within about so many jobs: what one storm
/// of jobs did must not widen the intervals of all that come later.
constexpr double kMostMoved = 2;
constexpr double kForgetsIn = 5000;

/// So that the next of such values is below it with probability `share`.
double quantile(const std::vector<double>& sorted, double share) {
  const double at = std::clamp(share * static_cast<double>(sorted.size() + 1) - 1, 0.0,
                               static_cast<double>(sorted.size() - 1));
  const auto below = static_cast<std::size_t>(at);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (at - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

}  // namespace

StartIntervals::StartIntervals(double coverage) : coverage_(coverage) {}

std::size_t StartIntervals::band_of(Duration wait) {
  return std::min(kBands - 1, static_cast<std::size_t>(std::log2(stretched(wait) / kMinute)));
}

/// Forecasts that are made soon after each other err alike: about as long as they reach.
Duration StartIntervals::apart(std::size_t band) { return std::chrono::minutes((1 << band) - 1); }

bool StartIntervals::has_note(const std::vector<Note>& notes, std::size_t band) {
  return std::any_of(notes.begin(), notes.end(),
                     [&](const Note& note) { return note.band == band; });
}

std::optional<StartInterval> StartIntervals::around(Time start, Time now) const {
  const std::size_t band = band_of(start - now);
  const std::deque<double>& errors = errors_[band];
  if (errors.size() < kLeastErrors) {
    return std::nullopt;
  }
  std::vector<double> sorted(errors.begin(), errors.end());
  std::sort(sorted.begin(), sorted.end());
  const double wait = stretched(start - now);
  const auto at = [&](double error) {
    return add_saturating(now, as_wait(wait * std::exp(error)));
  };
  const double middle = quantile(sorted, 0.5);
  const double low = quantile(sorted, (1 - coverage_) / 2) - from_moved_;
  const double high = quantile(sorted, (1 + coverage_) / 2) + to_moved_;
  return StartInterval{at(std::min(low, middle)), at(std::max(high, middle))};
}

void StartIntervals::give(JobId job, Time start, Time now) {
  if (given_.size() >= kMostJobs || given_.contains(job)) {
    return;
  }
  if (const auto interval = around(start, now)) {
    given_[job] = {*interval};
  }
}

void StartIntervals::learn(double& moved, bool missed) const {
  const double may = (1 - coverage_) / 2;
  moved = std::clamp(moved * (1 - 1 / kForgetsIn) + kStep * ((missed ? 1 : 0) - may), -kMostMoved,
                     kMostMoved);
}

void StartIntervals::judge(Given& given, Time now, bool starts) {
  if (given.from_open && (starts || given.interval.from < now)) {
    learn(from_moved_, now < given.interval.from);
    given.from_open = false;
  }
  if (given.to_open && (starts || given.interval.to < now)) {
    learn(to_moved_, given.interval.to < now);
    given.to_open = false;
  }
}

void StartIntervals::judge_those_that_wait(Time now) {
  for (auto& [job, given] : given_) {
    judge(given, now, false);
  }
  judged_ = now;
}

void StartIntervals::note(JobId job, Time start, Time now) {
  if (judged_ < now) {
    judge_those_that_wait(now);
  }
  give(job, start, now);
  const std::size_t band = band_of(start - now);
  Sample& sample = samples_[band];
  if (sample.at != now || sample.seen == 0) {
    if (sample.seen > 0 && now - sample.at < apart(band)) {
      return;
    }
    sample = {now, 0, {}};
  }
  const auto found = notes_.find(job);
  if (found == notes_.end() ? notes_.size() >= kMostJobs : has_note(found->second, band)) {
    return;
  }
  if (random_.below(++sample.seen) != 0) {
    return;  // another one stands for this forecast
  }
  if (const auto before = notes_.find(sample.job); sample.seen > 1 && before != notes_.end()) {
    std::erase_if(before->second, [&](const Note& note) { return note.band == band; });
    if (before->second.empty()) {
      notes_.erase(before);
    }
  }
  sample.job = job;
  notes_[job].push_back({static_cast<std::uint8_t>(band), start, now});
}

void StartIntervals::started(JobId job, Time at) {
  if (const auto given = given_.find(job); given != given_.end()) {
    judge(given->second, at, true);
    given_.erase(given);
  }
  const auto found = notes_.find(job);
  if (found == notes_.end()) {
    return;
  }
  for (const Note& note : found->second) {
    std::deque<double>& errors = errors_[note.band];
    errors.push_back(std::log(stretched(at - note.now) / stretched(note.start - note.now)));
    if (errors.size() > kMostErrors) {
      errors.pop_front();
    }
  }
  notes_.erase(found);
}

void StartIntervals::keep(const std::function<bool(JobId)>& waits) {
  std::erase_if(notes_, [&](const auto& noted) { return !waits(noted.first); });
  std::erase_if(given_, [&](const auto& given) { return !waits(given.first); });
}

}  // namespace berth
