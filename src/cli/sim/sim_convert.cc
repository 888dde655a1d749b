// berth sim convert: a trace in the columns that berth writes.
#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <memory>

#include "cli/commands.h"
#include "cli/sim/daemon_history.h"
#include "cli/sim/sim_options.h"
#include "cli/toolkit/args.h"

namespace berth {
namespace {

Result<Trace> history_trace() {
  Result<DaemonJobs> jobs = read_daemon_jobs(false, Machine(kMostSimDevices));
  if (!jobs) {
    return Failure(jobs.error());
  }
  Trace trace;
  trace.workload = std::move(jobs->workload);
  return trace;
}

}  // namespace

int sim_convert_main(Words words) {
  constexpr std::string_view kName = "berth sim convert";
  std::vector<std::string> files;
  TraceOptions options;
  bool history = false;
  Args args("berth sim convert (IN | --history) [OUT.csv] [options]",
            "Reads a trace in any of the forms that berth sim knows, or what this user's daemon\n"
            "has run, and writes it as CSV with the columns job_id, user, submit_s, duration_s,\n"
            "gpus, gpu_mem_mib, gpu_milli, priority, status and expected_s, to standard output if\n"
            "no file is named.");
  args.positional("IN [OUT.csv]", "the trace, and where to write it", 0, 2,
                  [&](std::string_view word) -> Result<void> {
                    files.emplace_back(word);
                    return {};
                  });
  args.value("--user", "NAME", "only the jobs of this user", options.user);
  args.flag("--history", history, "what the daemon has run, instead of a trace");
  args.flag("--skip-bad", options.skip_bad, "skip rows that make no sense");
  args.example("berth sim convert lublin_256.swf lublin.csv");
  args.example("berth sim convert --history ours.csv");
  const Result<bool> parsed = args.parse(words);
  if (!parsed) {
    return report(kName, parsed.error());
  }
  if (!*parsed) {
    return 0;
  }
  if (history) {
    files.insert(files.begin(), "the daemon");
  }
  if (files.empty() || files.size() > 2) {
    return report(kName, Error{ErrorCode::Usage, "name one trace, or --history, and one file"});
  }
  const Result<Trace> trace = history ? history_trace() : read_trace(files[0], options);
  if (!trace) {
    return report(kName, trace.error());
  }
  if (trace->skipped > 0) {
    fmt::print(stderr, "{}: skipped {} rows; the first: {}\n", kName, trace->skipped,
               trace->first_skipped);
  }
  const std::string csv = to_csv(trace->workload);
  if (files.size() == 1) {
    std::fwrite(csv.data(), 1, csv.size(), stdout);
    return 0;
  }
  const Result<void> written = write_file(files[1], csv);
  return written ? 0 : report(kName, written.error());
}

}  // namespace berth
