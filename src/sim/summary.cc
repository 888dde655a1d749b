#include "sim/summary.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace berth {
namespace {

constexpr double kBound = 10;  // seconds: shorter jobs count as long as this

/// The nearest-rank quantile.
double quantile(const std::vector<double>& sorted, double q) {
  const double at = std::ceil(q * static_cast<double>(sorted.size())) - 1;
  return sorted[static_cast<std::size_t>(std::max(at, 0.0))];
}

Spread spread(std::vector<double> values) {
  if (values.empty()) {
    return {};
  }
  Spread spread;
  spread.mean =
      std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
  std::sort(values.begin(), values.end());
  spread.p50 = quantile(values, 0.5);
  spread.p95 = quantile(values, 0.95);
  spread.p99 = quantile(values, 0.99);
  return spread;
}

struct OwnerMean {
  double sum = 0;
  double count = 0;
};

void add_fairness(Summary& summary, const std::vector<OwnerMean>& owners) {
  double sum = 0;
  double squares = 0;
  double worst = 0;
  double count = 0;
  for (const OwnerMean& owner : owners) {
    if (owner.count > 0) {
      const double mean = owner.sum / owner.count;
      sum += mean;
      squares += mean * mean;
      worst = std::max(worst, mean);
      ++count;
    }
  }
  if (squares > 0) {
    summary.jain_index = sum * sum / (count * squares);
    summary.finish_time_fairness = worst / (sum / count);
  }
}

double summed_wait(const Workload& workload, const SimRun& run) {
  std::vector<std::pair<Time, double>> starts;
  for (std::size_t i = 0; i < workload.jobs.size(); ++i) {
    const JobOutcome& outcome = run.outcomes[i];
    starts.emplace_back(outcome.started,
                        to_seconds(outcome.ended - workload.jobs[i].submit - outcome.ran));
  }
  std::sort(starts.begin(), starts.end());
  double so_far = 0;
  double sum = 0;
  for (const auto& [start, wait] : starts) {
    so_far += wait;
    sum += so_far;
  }
  return sum / static_cast<double>(starts.size());
}

}  // namespace

double bounded_slowdown(Duration completion, Duration duration) {
  return std::max(1.0, to_seconds(completion) / std::max(to_seconds(duration), kBound));
}

Summary summarise(const Workload& workload, const Machine& machine, const SimRun& run) {
  Summary summary;
  summary.jobs = workload.jobs.size();
  if (summary.jobs == 0) {
    return summary;
  }
  std::vector<double> waits;
  std::vector<double> completions;
  std::vector<double> slowdowns;
  std::vector<OwnerMean> owners(workload.owners.size());
  waits.reserve(summary.jobs);
  completions.reserve(summary.jobs);
  slowdowns.reserve(summary.jobs);
  for (std::size_t i = 0; i < summary.jobs; ++i) {
    const JobOutcome& outcome = run.outcomes[i];
    const Duration completion = outcome.ended - workload.jobs[i].submit;
    waits.push_back(to_seconds(completion - outcome.ran));
    completions.push_back(to_seconds(completion));
    slowdowns.push_back(bounded_slowdown(completion, workload.jobs[i].duration));
    owners[workload.jobs[i].owner].sum += slowdowns.back();
    ++owners[workload.jobs[i].owner].count;
  }
  summary.wait_s = spread(std::move(waits));
  summary.completion_s = spread(std::move(completions));
  summary.bounded_slowdown = spread(std::move(slowdowns));
  summary.reward = -summary.completion_s.mean * static_cast<double>(summary.jobs);
  summary.summed_wait_s = summed_wait(workload, run);
  add_fairness(summary, owners);
  summary.makespan_s = to_seconds(run.last_end - run.first_submit);
  double memory = 0;
  for (const SimDevice& device : machine) {
    memory += static_cast<double>(device.spec.memory.count) / (1 << 30);
  }
  if (summary.makespan_s > 0) {
    summary.utilization =
        run.device_seconds / (static_cast<double>(machine.size()) * summary.makespan_s);
    summary.memory_utilization =
        memory > 0 ? run.memory_gib_seconds / (memory * summary.makespan_s) : 0;
  }
  summary.gpu_seconds = run.gpu_seconds;
  summary.wasted_gpu_seconds = run.wasted_gpu_seconds;
  summary.energy_j = run.energy_j;
  summary.peak_power_w = run.peak_power_w;
  summary.preemptions = run.preemptions;
  summary.failures = run.failures;
  summary.events = run.events;
  return summary;
}

}  // namespace berth
