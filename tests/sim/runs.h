// Helpers for simulated runs, and for the public traces, which are not part of the repository.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>

#include "policy/policies.h"
#include "sim/summary.h"
#include "sim/trace.h"

namespace berth::test {

struct Ran {
  SimRun run;
  Summary summary;
};

inline Ran run(const Workload& workload, const std::string& gpus, std::string_view policy,
               const SimOptions& options = {}, const PolicyOptions& policy_options = {}) {
  const Result<Machine> machine = parse_machine(gpus);
  EXPECT_TRUE(machine.has_value());
  Result<std::unique_ptr<Policy>> made = make_policy(policy, policy_options);
  EXPECT_TRUE(made.has_value()) << policy;
  Result<SimRun> ran =
      simulate(workload, estimates(workload, {}, 1), *machine, std::move(*made), options);
  EXPECT_TRUE(ran.has_value()) << policy << ": " << (ran ? "" : ran.error().message);
  if (!ran) {
    return {};
  }
  const Summary summary = summarise(workload, *machine, *ran);
  return {std::move(*ran), summary};
}

/// One-GPU jobs, given as (submit, duration) in seconds.
inline Workload jobs(const std::vector<std::pair<int, int>>& times) {
  Workload workload;
  for (const auto& [submit, length] : times) {
    SimJob& job = workload.jobs.emplace_back();
    job.submit = Time(std::chrono::seconds(submit));
    job.duration = job.expected = std::chrono::seconds(length);
  }
  return workload;
}

/// The path of a trace in $BERTH_TRACES, or if that is not set, in a folder beside the repository.
inline std::optional<std::string> find_trace(const std::string& name) {
  const char* stated = std::getenv("BERTH_TRACES");
  const std::filesystem::path folder =
      stated != nullptr ? stated
                        : std::filesystem::path(BERTH_TESTS_DIR) / ".." / ".." / "shared/traces";
  const std::filesystem::path path = folder / name;
  return std::filesystem::exists(path) ? std::optional(path.string()) : std::nullopt;
}

inline Workload read(const std::string& path, const TraceOptions& options = {}) {
  Result<Trace> trace = read_trace(path, options);
  EXPECT_TRUE(trace.has_value()) << (trace ? "" : trace.error().message);
  return trace ? std::move(trace->workload) : Workload{};
}

}  // namespace berth::test
