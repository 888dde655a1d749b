// What a decision costs, in microseconds for each event, as kinds of job and owners become many,
// under every policy. It should hardly grow. The queue is as long in all columns, and its jobs take
// as much: a hundred jobs alone would all run at once, and leave nothing to decide.
#include <fmt/format.h>

#include <chrono>
#include <ctime>
#include <functional>
#include <vector>

#include "base/random.h"
#include "core/scheduler.h"
#include "policy/policies.h"

namespace berth {
namespace {

constexpr std::uint32_t kDevices = 64;
constexpr int kEvents = 2000;

constexpr std::uint32_t kJobs = 10'000;

/// A job of the n-th of so many groups. It is submitted again when it has ended.
using MakeJob = std::function<JobSpec(std::uint32_t n, std::uint32_t groups, Random& random)>;

/// Each group has needs of its own.
JobSpec with_own_needs(std::uint32_t n, std::uint32_t groups, Random& random) {
  JobSpec spec;
  spec.needs.memory = mebibytes(1024 + n * (kJobs / groups));
  spec.expected = std::chrono::seconds(10 + random.below(1000));
  return spec;
}

/// Each group has an owner of its own, and wants a few whole devices.
JobSpec of_own_owner(std::uint32_t n, std::uint32_t, Random& random) {
  JobSpec spec;
  spec.needs.gpus = static_cast<std::uint32_t>(1 + random.below(8));
  spec.owner = OwnerId{n + 1};
  spec.expected = std::chrono::seconds(10 + random.below(1000));
  return spec;
}

double microseconds_per_event(std::string_view policy, const MakeJob& make, std::uint32_t groups) {
  PolicyOptions options;
  options.power_budget = 1e9;
  Scheduler scheduler(std::move(*make_policy(policy, options)), {});
  for (std::uint32_t i = 0; i < kDevices; ++i) {
    scheduler.add_device({std::to_string(i), "", "", gibibytes(24), {}});
  }
  Random random(1);
  Time now{};
  std::map<JobId, std::uint32_t> numbers;
  std::vector<JobId> running;
  const auto submit = [&](std::uint32_t n) {
    numbers[*scheduler.apply(Submit{make(n % groups, groups, random)}, now)] = n;
  };
  const auto decide = [&] {
    for (const Action& action : std::vector<Action>(scheduler.step(now))) {
      if (const auto* start = std::get_if<StartJob>(&action)) {
        scheduler.apply(JobStarted{start->job}, now);
        running.push_back(start->job);
      } else if (const auto* back = std::get_if<PreemptJob>(&action)) {
        std::erase(running, back->job);
        scheduler.apply(JobPreempted{back->job}, now);
      } else if (const auto* end = std::get_if<JobEnded>(&action)) {
        scheduler.forget(end->job);
      }
    }
  };
  for (std::uint32_t n = 0; n < kJobs; ++n) {
    submit(n);
  }
  decide();
  const std::clock_t begin = std::clock();
  for (int i = 0; i < kEvents && !running.empty(); ++i) {
    now += std::chrono::seconds(1);
    const JobId ended = running[random.below(running.size())];
    std::erase(running, ended);
    const std::uint32_t n = numbers.at(ended);
    numbers.erase(ended);
    scheduler.apply(JobExited{ended}, now);
    submit(n);
    decide();
  }
  return 1e6 * static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC / kEvents;
}

void table(std::string_view what, const MakeJob& make) {
  fmt::print("{:<14}", what);
  for (const std::uint32_t groups : {100U, 1000U, 10'000U}) {
    fmt::print("{:>10}", groups);
  }
  fmt::print("\n");
  for (const std::string_view policy : policy_names()) {
    fmt::print("{:<14}", policy);
    for (const std::uint32_t groups : {100U, 1000U, 10'000U}) {
      fmt::print("{:>10.1f}", microseconds_per_event(policy, make, groups));
      std::fflush(stdout);
    }
    fmt::print("\n");
  }
}

}  // namespace
}  // namespace berth

int main() {
  berth::table("kinds of job", berth::with_own_needs);
  berth::table("owners", berth::of_own_owner);
}
