#include "sim/foresight.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <string>

#include "core/forecast.h"
#include "sim/arrivals.h"

namespace berth {
namespace {

constexpr std::size_t kAtOnce = 1000;
constexpr std::size_t kForecastJobs = 1000;  // as many as the daemon follows
/// Added to what is stretched, so that seconds do not count as large factors.
constexpr double kMinute = 60;

template <class Item, class Value>
double quantile(const std::vector<Item>& items, double share, Value value_of) {
  if (items.empty()) {
    return 0;
  }
  std::vector<double> values;
  std::transform(items.begin(), items.end(), std::back_inserter(values), value_of);
  const auto at = values.begin() + std::lround(share * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

}  // namespace

void IntervalFigures::count(double low, double high, double value) {
  promises_.push_back({low, high, value});
}

double IntervalFigures::coverage() const {
  const auto held = std::count_if(promises_.begin(), promises_.end(), [](const Promise& promise) {
    return promise.low <= promise.value && promise.value <= promise.high;
  });
  return promises_.empty() ? 0 : static_cast<double>(held) / static_cast<double>(promised());
}

double IntervalFigures::median_width_s(double stretch) const {
  return quantile(promises_, 0.5, [&](const Promise& promise) {
    const double low = std::max(0.0, (promise.low + kMinute) / stretch - kMinute);
    return (promise.high + kMinute) * stretch - kMinute - low;
  });
}

double IntervalFigures::median_width_at_s(double coverage) const {
  return median_width_s(quantile(promises_, coverage, [](const Promise& promise) {
    const double value = promise.value + kMinute;
    return std::max({1.0, (promise.low + kMinute) / value, value / (promise.high + kMinute)});
  }));
}

/// A trace has no commands. What one owner runs on as many GPUs counts as the same work again.
Foresight::Foresight(const Workload& workload, ForesightOptions options)
    : workload_(workload), options_(std::move(options)) {
  std::map<std::string, std::uint32_t> known;
  for (const SimJob& job : workload.jobs) {
    const std::string key = "\n" + workload.owners[job.owner] + " " + std::to_string(job.gpus);
    const auto [found, added] = known.emplace(key, static_cast<std::uint32_t>(recipes_.size()));
    if (added) {
      recipes_.push_back({key, {}});
    }
    recipe_by_job_.push_back(found->second);
  }
  waits_.resize(recipes_.size());
}

Duration Foresight::expected(std::uint32_t job) const {
  return learner_.expected(recipe_of(job), workload_.jobs[job].owner);
}

void Foresight::waits(std::uint32_t job, const Scheduler& scheduler) {
  learner_.waiters().add(id_of(job), recipe_of(job), workload_.jobs[job].owner, scheduler);
}

void Foresight::started(std::uint32_t job, Time at) {
  intervals_.started(id_of(job), at);
  (void)waits_[recipe_by_job_[job]].learn(at - workload_.jobs[job].submit);
  const auto found = promises_.find(id_of(job));
  if (found == promises_.end()) {
    return;
  }
  const Promise promise = found->second;
  const auto count = [&](IntervalFigures& figures, const StartInterval& interval) {
    figures.count(to_seconds(interval.from - promise.made), to_seconds(interval.to - promise.made),
                  to_seconds(at - promise.made));
  };
  if (promise.made >= options_.from) {
    count(starts_, promise.interval);
    count(raw_starts_, promise.raw);
  }
  promises_.erase(found);
}

void Foresight::ended(std::uint32_t job, Duration ran) {
  const Recipe& recipe = recipe_of(job);
  const std::uint32_t owner = workload_.jobs[job].owner;
  const LengthOutlook outlook = learner_.book().outlook(recipe, owner);
  if (outlook.known() && outlook.upper != kForever && workload_.jobs[job].submit >= options_.from) {
    lengths_.count(to_seconds(outlook.lower), to_seconds(outlook.upper), to_seconds(ran));
  }
  learner_.learn(recipe, owner, ran);
}

std::vector<Reestimate> Foresight::changes(const Scheduler& scheduler) {
  return learner_.behind() ? learner_.changes(scheduler, kAtOnce) : std::vector<Reestimate>{};
}

StartInterval Foresight::raw_interval(std::uint32_t job, Time now) const {
  const LengthOutlook waits = waits_[recipe_by_job_[job]].outlook();
  const Time submitted = workload_.jobs[job].submit;
  return {std::max(now, submitted + waits.lower),
          std::max(now, add_saturating(submitted, waits.upper))};
}

void Foresight::look(const Scheduler& scheduler, Time now) {
  if (now < next_look_ || scheduler.queue().size() == 0) {
    return;
  }
  next_look_ = now + options_.between;
  Forecast forecast =
      scheduler.forecast(options_.policy(), learner_.book().typical().median, kForecastJobs, now);
  for (const auto& [job, run] : forecast.finish()) {
    const std::optional<StartInterval> interval = intervals_.around(run.start, now);
    if (interval) {
      promises_.emplace(job, Promise{now, *interval, raw_interval(job_of(job), now)});
    }
    intervals_.note(job, run.start, now);
  }
}

}  // namespace berth
