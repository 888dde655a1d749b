// What the simulator costs: the public traces (their folder in BERTH_TRACES, see docs/traces.md),
// and made-up workloads from a thousand to a million jobs. CPU time of one core, reading aside.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <string>

#include "policy/policies.h"
#include "sim/generate.h"
#include "sim/summary.h"
#include "sim/trace.h"

namespace berth {
namespace {

struct Cost {
  double seconds = 0;
  std::uint64_t events = 0;
};

/// The quickest of some runs: what others do on the machine only ever adds.
Cost measure(const Workload& workload, const std::string& gpus, std::string_view policy,
             int rounds) {
  const Result<Machine> machine = parse_machine(gpus);
  const std::vector<Duration> told = estimates(workload, {}, 1);
  Cost best;
  for (int i = 0; i < rounds; ++i) {
    const std::clock_t begin = std::clock();
    const Result<SimRun> run =
        simulate(workload, told, *machine, std::move(*make_policy(policy)), {});
    const double seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
    if (i == 0 || seconds < best.seconds) {
      best = {seconds, run->events};
    }
  }
  return best;
}

/// The most memory that this process ever had, in bytes.
double peak_memory() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmHWM:")) {
      return std::strtod(line.c_str() + 6, nullptr) * 1024;
    }
  }
  return 0;
}

void memory() {
  constexpr double kJobs = 1e6;
  const Result<Machine> machine = parse_machine("512");
  const double before = peak_memory();
  const Result<Workload> workload = generate("poisson:n=1000000,load=0.9", *machine, 1);
  (void)measure(*workload, "512", "fifo", 1);
  fmt::print("memory: {:.0f} bytes a job (aim: at most 300)\n", (peak_memory() - before) / kJobs);
}

void growth(std::string_view policy) {
  const Result<Machine> machine = parse_machine("64");
  double first = 0;
  fmt::print("{:<6} poisson, load 0.9, 64 GPUs:", policy);
  for (const int n : {1'000, 10'000, 100'000, 1'000'000}) {
    const Result<Workload> workload =
        generate(fmt::format("poisson:n={},load=0.9", n), *machine, 1);
    const Cost cost = measure(*workload, "64", policy, n < 100'000 ? 5 : 1);
    // Of a constant: it must not grow.
    const double each = cost.seconds / (n * std::log2(n)) * 1e9;
    first = first == 0 ? each : first;
    fmt::print("  {:>7}: {:.0f} ns/job, {:.2f} × n log n", n, cost.seconds / n * 1e9, each / first);
  }
  fmt::print("\n");
}

void trace_line(const std::string& folder, const std::string& name, const std::string& user,
                const std::string& gpus, std::string_view policy, const std::string& aim,
                double other) {
  TraceOptions options;
  if (!user.empty()) {
    options.user = user;
  }
  const Result<Trace> trace = read_trace(folder + "/" + name, options);
  if (!trace) {
    fmt::print("{}: left out: {}\n", name, trace.error().message);
    return;
  }
  const Cost cost = measure(trace->workload, gpus, policy, 5);
  fmt::print("{:<20} {:>7} {:>4} GPUs {:<5} {:8.4f} s, {:>9.0f} events/s{} ({})\n", name, user,
             gpus, policy, cost.seconds, static_cast<double>(cost.events) / cost.seconds,
             other > 0 ? fmt::format(", {:.0f} × faster", other / cost.seconds) : "", aim);
}

}  // namespace
}  // namespace berth

int main() {
  using namespace berth;
  memory();
  const char* folder = std::getenv("BERTH_TRACES");
  if (folder == nullptr) {
    fmt::print("the public traces are left out: set BERTH_TRACES to their folder\n");
  } else {
    const std::string philly = "philly_2017.csv.gz";
    trace_line(folder, philly, "", "512", "fifo", "aim: 0.5 s, 1,000,000 events/s", 0);
    trace_line(folder, philly, "", "512", "srtf", "aim: 2 s", 0);
    trace_line(folder, philly, "", "512", "easy", "no aim", 0);
    // Measured on a like machine: Tiresias' own simulator, and pyss.
    trace_line(folder, philly, "103959", "24", "fifo", "Tiresias 3.4 s; aim: 500 ×", 3.4);
    trace_line(folder, philly, "103959", "24", "srtf", "Tiresias 7.1 s; aim: 500 ×", 7.1);
    trace_line(folder, "lublin1_256.csv", "", "256", "easy", "pyss 9.2 s; aim: 100 ×", 9.2);
  }
  for (const std::string_view policy : {"fifo", "sjf", "easy", "srtf"}) {
    growth(policy);
  }
  return 0;
}
