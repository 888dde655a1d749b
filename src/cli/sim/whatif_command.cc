// berth whatif: the daemon's own jobs under other policies.
#include "base/failpoint.h"
#include "cli/commands.h"
#include "cli/sim/daemon_history.h"
#include "cli/sim/sim_options.h"
#include "cli/toolkit/args.h"

namespace berth {
namespace {

constexpr std::string_view kWhatifName = "berth whatif";

Result<PreparedStudy> prepare(SimCommandOptions& options, bool queue, Duration last) {
  PreparedStudy study;
  if (options.gpus.empty()) {
    study.machine = daemon_machine();
  } else if (Result<void> named = prepare_machine(options, study); !named) {
    return Failure(named.error());
  }
  if (options.gpus.empty() && study.machine.empty()) {
    return fail(ErrorCode::Usage, "the daemon has no devices: say what to simulate, like --gpus 4");
  }
  Result<DaemonJobs> jobs = read_daemon_jobs(queue, study.machine, last);
  if (!jobs) {
    return Failure(jobs.error());
  }
  if (options.placements.empty()) {
    options.placements = {jobs->placement};
  }
  if (Result<void> ready = prepare_contenders(options, study); !ready) {
    return Failure(ready.error());
  }
  options.study.sim.buffer = DeviceTable::Limits{}.buffer;  // as the daemon keeps it free
  if (options.gpus.empty()) {
    options.gpus = "this machine";
    study.jobs_j = queue ? 0 : jobs->jobs_j;
  }
  study.origin = jobs->origin;
  study.trials.push_back({std::move(jobs->workload)});
  if (!queue) {
    study.recorded = std::move(jobs->recorded);
  }
  return study;
}

}  // namespace

int whatif_main(Words words) {
  SimCommandOptions options;
  bool queue = false;
  Duration last = kForever;
  Args args("berth whatif --policy NAME,… [options]",
            "Runs the jobs that this user's daemon has run, or with --queue those that run and\n"
            "wait now, in the simulator under other policies. The row `recorded` is what really\n"
            "happened. Policies are told what the daemon knew: claims, priorities, weights and\n"
            "expected lengths; oracle:NAME is told the true lengths. Which GPUs a job may have,\n"
            "and what it follows, is not looked at.");
  args.flag("--queue", queue, "the present queue, not the past");
  args.value("--last", "TIME", "only jobs that were submitted within it, like 1d (default: all)",
             last);
  args.value("--gpus", "SPEC", "other devices than the daemon's: 8, 2x8, gpus.csv, …",
             options.gpus);
  options.declare_study(args);
  args.example("berth whatif --policy fifo,sjf,easy,srtf");
  args.example("berth whatif --queue --policy sjf --gpus 8 --jobs starts.csv");
  args.example("berth whatif --queue --policy priority,fair --json --spans");
  const Result<bool> parsed = args.parse(words);
  if (!parsed) {
    return report(kWhatifName, parsed.error());
  }
  if (!*parsed) {
    return 0;
  }
  (void)BERTH_FAILPOINT("whatif.begin");
  Result<PreparedStudy> study = prepare(options, queue, last);
  if (!study) {
    return report(kWhatifName, study.error());
  }
  const Result<int> status = run_prepared(options, *study);
  return status ? *status : report(kWhatifName, status.error());
}

}  // namespace berth
