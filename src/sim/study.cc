#include "sim/study.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <mutex>
#include <optional>
#include <thread>

namespace berth {
namespace {

constexpr std::string_view kOracle = "oracle:";

/// When the workload's clock begins: at 0, or, where its times are dates, with its first job.
Time begin_of(const Workload& workload) {
  constexpr Time kFirstDate(std::chrono::seconds(1'000'000'000));  // in 2001
  const Time first = workload.jobs.empty() ? Time{} : workload.jobs.front().submit;
  return first < kFirstDate ? Time{} : first;
}

Result<SimRun> run_one(const Contender& contender, const Trial& trial, const Machine& machine,
                       const StudyOptions& options) {
  std::string_view name = contender.policy;
  EstimateOptions told{options.estimate_error, name.starts_with(kOracle), options.estimated};
  if (told.truth) {
    name.remove_prefix(kOracle.size());
  }
  PolicyOptions policy_options = options.policy;
  policy_options.seed = trial.seed;
  policy_options.begin = begin_of(trial.workload);
  policy_options.preemption_cost = slowest_resumption(trial.workload, machine, options.sim);
  Result<std::unique_ptr<Policy>> policy = make_policy(name, policy_options);
  if (!policy) {
    return Failure(policy.error());
  }
  SimOptions sim = options.sim;
  sim.placement = contender.placement;
  sim.faults.seed = trial.seed;
  return simulate(trial.workload, estimates(trial.workload, told, trial.seed), machine,
                  std::move(*policy), sim);
}

constexpr std::array kFigures = {
    Figure{"mean_completion_s", [](const Summary& s) { return s.completion_s.mean; }},
    Figure{"p50_completion_s", [](const Summary& s) { return s.completion_s.p50; }},
    Figure{"p95_completion_s", [](const Summary& s) { return s.completion_s.p95; }},
    Figure{"p99_completion_s", [](const Summary& s) { return s.completion_s.p99; }},
    Figure{"mean_wait_s", [](const Summary& s) { return s.wait_s.mean; }},
    Figure{"p50_wait_s", [](const Summary& s) { return s.wait_s.p50; }},
    Figure{"p95_wait_s", [](const Summary& s) { return s.wait_s.p95; }},
    Figure{"p99_wait_s", [](const Summary& s) { return s.wait_s.p99; }},
    Figure{"summed_wait_s", [](const Summary& s) { return s.summed_wait_s; }},
    Figure{"mean_bounded_slowdown", [](const Summary& s) { return s.bounded_slowdown.mean; }},
    Figure{"p99_bounded_slowdown", [](const Summary& s) { return s.bounded_slowdown.p99; }},
    Figure{"makespan_s", [](const Summary& s) { return s.makespan_s; }},
    Figure{"utilization", [](const Summary& s) { return s.utilization; }},
    Figure{"memory_utilization", [](const Summary& s) { return s.memory_utilization; }},
    Figure{"gpu_seconds", [](const Summary& s) { return s.gpu_seconds; }},
    Figure{"wasted_gpu_seconds", [](const Summary& s) { return s.wasted_gpu_seconds; }},
    Figure{"energy_j", [](const Summary& s) { return s.energy_j; }},
    Figure{"peak_power_w", [](const Summary& s) { return s.peak_power_w; }},
    Figure{"jain_index", [](const Summary& s) { return s.jain_index; }},
    Figure{"finish_time_fairness", [](const Summary& s) { return s.finish_time_fairness; }},
    Figure{"reward", [](const Summary& s) { return s.reward; }},
    Figure{"preemptions", [](const Summary& s) { return static_cast<double>(s.preemptions); }},
    Figure{"failures", [](const Summary& s) { return static_cast<double>(s.failures); }},
    Figure{"events", [](const Summary& s) { return static_cast<double>(s.events); }},
};

/// Student's t for a two-sided 95 %, by degrees of freedom.
double student(std::size_t freedom) {
  constexpr std::array kTable = {12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306,
                                 2.262,  2.228, 2.201, 2.179, 2.160, 2.145, 2.131, 2.120,
                                 2.110,  2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064,
                                 2.060,  2.056, 2.052, 2.048, 2.045, 2.042};
  return freedom <= kTable.size() ? kTable[freedom - 1] : 1.960;
}

}  // namespace

Result<std::vector<std::vector<Summary>>> run_study(const std::vector<Contender>& contenders,
                                                    const std::vector<Trial>& trials,
                                                    const Machine& machine,
                                                    const StudyOptions& options,
                                                    const RunSeen& seen) {
  std::vector<std::vector<Summary>> summaries(contenders.size(),
                                              std::vector<Summary>(trials.size()));
  const std::size_t runs = contenders.size() * trials.size();
  std::atomic<std::size_t> next = 0;
  std::mutex mutex;
  std::optional<Error> problem;  // guarded by the mutex
  const auto work = [&] {
    for (std::size_t i = next++; i < runs; i = next++) {
      const std::size_t contender = i / trials.size();
      const std::size_t trial = i % trials.size();
      const Result<SimRun> run = run_one(contenders[contender], trials[trial], machine, options);
      const std::lock_guard lock(mutex);
      if (!run) {
        problem = problem ? problem : run.error();
        next = runs;
        return;
      }
      summaries[contender][trial] = summarise(trials[trial].workload, machine, *run);
      seen(contender, trial, *run);
    }
  };
  const std::size_t cores =
      options.threads > 0 ? options.threads : std::max(1U, std::thread::hardware_concurrency());
  std::vector<std::thread> helpers;
  for (std::size_t i = 1; i < std::min(cores, runs); ++i) {
    helpers.emplace_back(work);
  }
  work();
  for (std::thread& helper : helpers) {
    helper.join();
  }
  if (problem) {
    return Failure(*problem);
  }
  return summaries;
}

std::span<const Figure> figures() { return kFigures; }

Estimate estimate(const std::vector<double>& values) {
  const auto n = static_cast<double>(values.size());
  Estimate result;
  for (const double value : values) {
    result.mean += value / n;
  }
  if (values.size() > 1) {
    double squares = 0;
    for (const double value : values) {
      squares += (value - result.mean) * (value - result.mean);
    }
    result.half_width = student(values.size() - 1) * std::sqrt(squares / (n - 1) / n);
  }
  return result;
}

Estimate estimate(const std::vector<Summary>& runs, const Figure& figure) {
  std::vector<double> values;
  for (const Summary& run : runs) {
    values.push_back(figure.of(run));
  }
  return estimate(values);
}

}  // namespace berth
