// What a job costs through a shim beside a direct child: N times `true`, some in flight, one way
// and the other in turns, and the ratio of the rates. Usage: shim_bench [JOBS [IN_FLIGHT
// [ROUNDS]]], or with one way only, for a profiler: shim_bench JOBS IN_FLIGHT direct|shim
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <string_view>
#include <vector>

#include "exec/direct_runner.h"
#include "exec/shim_runner.h"

namespace berth {
namespace {

using Clock = std::chrono::steady_clock;

struct Load {
  std::uint64_t jobs = 2000;
  std::uint64_t in_flight = 4;
};

void wait_for(int fd) {
  pollfd poll{fd, POLLIN, 0};
  (void)::poll(&poll, 1, -1);
}

double rate(const Load& load, Clock::time_point from) {
  return static_cast<double>(load.jobs) /
         std::chrono::duration<double>(Clock::now() - from).count();
}

double direct(const Load& load) {
  auto runner = DirectRunner::make();
  if (!runner) {
    std::exit(2);
  }
  const Fd log(::open("/dev/null", O_WRONLY | O_CLOEXEC));
  const auto from = Clock::now();
  std::uint64_t started = 0;
  for (std::uint64_t ended = 0; ended < load.jobs;) {
    while (started < load.jobs && started - ended < load.in_flight) {
      Launch launch;
      launch.job = JobId{++started};
      launch.command = "true";
      launch.stdout_fd = log.get();
      (void)(*runner)->start(std::move(launch)).has_value();
    }
    wait_for((*runner)->event_fd());
    ended += (*runner)->take_exits().size();
  }
  return rate(load, from);
}

double shim(const Load& load, const std::string& folder) {
  auto runner = ShimRunner::make(folder);
  if (!runner) {
    fmt::print(stderr, "{}\n", runner.error().message);
    std::exit(2);
  }
  ShimLaunch launch;
  launch.attempt = 1;
  launch.command = "true";
  launch.directory = "/";
  launch.user = ::geteuid();
  for (char** entry = environ; *entry != nullptr; ++entry) {
    launch.environment.emplace_back(*entry);
  }
  const auto from = Clock::now();
  std::uint64_t started = 0;
  for (std::uint64_t ended = 0; ended < load.jobs;) {
    while (started < load.jobs && started - ended < load.in_flight) {
      launch.job = JobId{++started};
      (void)(*runner)->start(launch).has_value();
    }
    wait_for((*runner)->event_fd());
    (void)(*runner)->take_starts();
    for (const AttemptEnd& end : (*runner)->take_ends()) {
      if (end.kind != AttemptEnd::Kind::Exited || end.code != 0) {
        fmt::print(stderr, "job {} did not end well\n", end.job.value);
        std::exit(1);
      }
      (*runner)->forget(end.job, end.attempt);
      ++ended;
    }
  }
  return rate(load, from);
}

/// Each round in a process of its own: a runner claims its process's children.
double in_child(const std::function<double()>& measure) {
  int ends[2];
  if (::pipe(ends) != 0) {
    std::exit(2);
  }
  if (::fork() == 0) {
    const double result = measure();
    const bool told = ::write(ends[1], &result, sizeof result) == sizeof result;
    std::_Exit(told ? 0 : 1);
  }
  ::close(ends[1]);
  double result = 0;
  if (::read(ends[0], &result, sizeof result) != sizeof result) {
    std::exit(1);
  }
  ::close(ends[0]);
  ::wait(nullptr);
  return result;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

int main_of(int argc, char** argv) {
  Load load;
  load.jobs = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : load.jobs;
  load.in_flight = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : load.in_flight;
  const std::string_view way = argc > 3 ? argv[3] : "";
  const int rounds = argc > 3 ? std::atoi(argv[3]) : 5;
  char folder[] = "shim-bench-XXXXXX";
  if (::mkdtemp(folder) == nullptr) {
    return 2;
  }
  if (way == "direct" || way == "shim") {
    fmt::print("{:7.0f} jobs/s\n", way == "direct" ? direct(load) : shim(load, folder));
    std::filesystem::remove_all(folder);
    return 0;
  }
  std::vector<double> direct_rates;
  std::vector<double> shim_rates;
  std::vector<double> ratios;
  for (int round = 0; round < rounds; ++round) {
    direct_rates.push_back(in_child([&] { return direct(load); }));
    shim_rates.push_back(in_child([&] { return shim(load, folder); }));
    ratios.push_back(shim_rates.back() / direct_rates.back());
    fmt::print("direct {:7.0f} jobs/s   shim {:7.0f} jobs/s   ratio {:.2f}\n", direct_rates.back(),
               shim_rates.back(), ratios.back());
  }
  fmt::print("median {:7.0f} jobs/s        {:7.0f} jobs/s         {:.2f}\n", median(direct_rates),
             median(shim_rates), median(ratios));
  std::filesystem::remove_all(folder);
  return 0;
}

}  // namespace
}  // namespace berth

int main(int argc, char** argv) { return berth::main_of(argc, argv); }
