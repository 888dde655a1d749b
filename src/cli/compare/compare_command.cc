// `berth compare`: the same tasks under several policies, for real or in the simulator.
#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "cli/commands.h"
#include "cli/compare/compare_figures.h"
#include "cli/run/run_report.h"
#include "cli/sim/sim_options.h"
#include "cli/toolkit/args.h"
#include "cli/toolkit/gpus_option.h"
#include "cli/toolkit/model_option.h"
#include "cli/toolkit/table.h"
#include "cli/toolkit/terminal.h"
#include "exec/direct_runner.h"
#include "policy/policies.h"
#include "record/record_observer.h"
#include "run/run.h"
#include "run/run_turns.h"

namespace berth {
namespace {

constexpr std::string_view kCompareName = "berth compare";
constexpr std::string_view kTurnsNote =
    "Under rr, jobs are stopped and continued; what they hold of GPU memory stays there meanwhile.";

struct CompareCommand {
  std::string gpus;
  std::string file;
  std::vector<std::string> policies = {"fifo", "rr", "lottery", "wfq", "leastloaded"};
  std::int64_t repeat = 1;
  Duration slice = std::chrono::seconds(10);
  Duration interval = std::chrono::seconds(1);
  std::optional<std::string> report;
  std::optional<std::string> csv;
  std::optional<std::string> log_folder;
  std::optional<std::string> generate;
  std::optional<std::string> trace;
  bool simulate = false;
  bool json = false;
};

Args compare_args(CompareCommand& command) {
  Args args("berth compare [options] FILE | --simulate (--generate KIND | --trace FILE)",
            "Runs the tasks of FILE, one shell command per line as for berth run, under each\n"
            "policy on the same devices, one policy after the other, and puts makespan, waits,\n"
            "use, power and energy side by side. rr is time slicing: jobs are stopped and\n"
            "continued, and what they hold of GPU memory stays there. leastloaded, spread, pack\n"
            "and bestfit are first come, first served with that choice of device.\n"
            "--simulate compares in the simulator instead (berth sim has more options).");
  args.positional("FILE", "tasks, one per line", 0, 1, [&](std::string_view word) -> Result<void> {
    command.file = word;
    return {};
  });
  add_gpus_option(args, command.gpus);
  args.value("--policy", "A,B,…", "policies (default: fifo,rr,lottery,wfq,leastloaded)",
             [&](std::string_view text) -> Result<void> {
               command.policies.clear();
               for (std::size_t at = 0; at <= text.size();) {
                 const std::size_t end = std::min(text.find(',', at), text.size());
                 command.policies.emplace_back(text.substr(at, end - at));
                 at = end + 1;
               }
               return {};
             });
  args.value("--repeat", "N", "run everything so often, with confidence intervals (default: 1)",
             command.repeat);
  args.value("--slice", "TIME", "rr: how long a turn is (default: 10s)", command.slice);
  args.value("--interval", "TIME", "between two readings of the devices (default: 1s)",
             command.interval);
  args.value("--report", "FILE.html", "write one page with the table and all charts",
             command.report);
  args.value("--csv", "FILE", "write the figures of each run", command.csv);
  args.value("--log-dir", "DIR", "one log file per task: DIR/POLICY-RUN/1.log, …",
             command.log_folder);
  args.flag("--simulate", command.simulate, "compare in the simulator");
  args.value("--generate", "KIND", "--simulate: made-up tasks, like mix:n=50", command.generate);
  args.value("--trace", "FILE", "--simulate: the jobs of a trace", command.trace);
  args.flag("--json", command.json, "print JSON");
  args.example("berth compare --policy fifo,rr,wfq --repeat 3 --report page.html tasks.txt");
  args.example("berth compare --gpus sim:2 --slice 2s tasks.txt");
  args.example("berth compare --simulate --generate mix:n=50 --gpus 2 --repeat 20");
  return args;
}

/// A policy, or first come, first served with a placement that has this name.
Contender contender_of(const std::string& name) {
  const Result<Placement> placement = parse_placement(name);
  return placement ? Contender{"fifo", *placement} : Contender{name, kUsualPlacement};
}

/// Says nothing of what goes well.
class Silent final : public RunObserver {
 public:
  explicit Silent(std::string policy) : policy_(std::move(policy)) {}
  void job_ended(const JobEvent& job, const JobEndEvent& end) override {
    if (end.outcome != Outcome::Succeeded && !end.retried) {
      fmt::print(stderr, "{}: {}: {}\n", kCompareName, policy_, describe_job_end(job, end, 100));
    }
  }
  void job_output(JobId, bool, std::string_view) override {}
  void warning(std::string_view text) override {
    fmt::print(stderr, "{}: {}: {}\n", kCompareName, policy_, text);
  }

 private:
  std::string policy_;
};

Result<RunOptions> options_of(const CompareCommand& command, const std::string& policy,
                              std::int64_t number) {
  RunOptions options;
  const Contender contender = contender_of(policy);
  Result<std::string> packed = pack_policy(contender.policy);
  if (!packed) {
    return Failure(packed.error());
  }
  options.policy = std::move(*packed);
  options.placement = contender.placement;
  options.sample_interval = command.interval;
  if (command.log_folder) {
    std::string folder = fmt::format("{}-{}", policy, number);
    std::replace(folder.begin(), folder.end(), '/', '_');  // rl:models/own.berth
    options.outputs.log_folder = *command.log_folder + "/" + folder;
  } else {
    // What tasks print would be between the lines of the table.
    options.adapt = [](Launch& launch, std::span<const DeviceId>) {
      launch.command.insert(0, "exec >/dev/null 2>&1\n");
    };
  }
  if (policy == "rr") {
    use_turns(options, command.slice);
  } else if (Result<std::unique_ptr<Policy>> made = make_live_policy(options.policy); !made) {
    return Failure(made.error());
  }
  return options;
}

struct OneRun {
  RealRun figures;
  Recording recording;
  Time begin;
  bool interrupted = false;
};

Result<OneRun> run_once(const CompareCommand& command, const std::string& policy,
                        std::int64_t number) {
  const Result<RunOptions> options = options_of(command, policy, number);
  if (!options) {
    return Failure(options.error());
  }
  Result<Input> input = Input::open(command.file, JobReader::Separator::Newline);
  if (!input) {
    return Failure(input.error());
  }
  const auto devices = open_devices(command.gpus);
  if (!devices) {
    return Failure(devices.error());
  }
  const auto runner = DirectRunner::make();
  if (!runner) {
    return Failure(runner.error());
  }
  const auto locks =
      DeviceLocks::open({"run", "", "berth compare " + command.file}, (*devices)->list());
  if (!locks) {
    return Failure(locks.error());
  }
  const auto recorder = Recorder::open("", {}, (*devices)->list(), command.interval);
  if (!recorder) {
    return Failure(recorder.error());
  }
  Silent silent(policy);
  RecordObserver observer(**recorder, silent);
  const Time begin = record_time();
  Run run(*options, **devices, locks->get(), **runner, observer);
  const Result<RunSummary> summary = run.execute(std::move(*input));
  if (!summary) {
    return Failure(summary.error());
  }
  (*recorder)->sampled((*devices)->sample(), record_time(), std::chrono::system_clock::now());
  (*recorder)->recording().finish(record_time());
  const Recording& recording = (*recorder)->recording();
  return OneRun{real_run(recording, *summary, begin), recording, begin, summary->interrupted};
}

void print_comparison(const std::vector<ComparedPolicy>& policies) {
  Table table;
  table.column("FIGURE");
  for (const ComparedPolicy& policy : policies) {
    table.column(policy.name, Align::Right);
  }
  for (const RealFigure& figure : real_figures()) {
    std::vector<Cell> cells{std::string(figure.name)};
    for (const ComparedPolicy& policy : policies) {
      cells.emplace_back(real_cell(policy, figure));
    }
    table.row(std::move(cells));
  }
  const Terminal terminal = describe_terminal(STDOUT_FILENO);
  fmt::print("{}", table.render(terminal.columns, terminal.colour));
}

Result<int> compare_real(const CompareCommand& command) {
  if (command.file.empty() || command.file == "-" || command.generate || command.trace) {
    return fail(ErrorCode::Usage, command.file.empty() || command.file == "-"
                                      ? "name the file of the tasks, or say --simulate"
                                      : "--generate and --trace are for --simulate");
  }
  for (const std::string& policy : command.policies) {
    if (const Result<RunOptions> options = options_of(command, policy, 1); !options) {
      return Failure(options.error());
    }
  }
  std::vector<ComparedPolicy> policies;
  bool failed = false;
  for (std::int64_t number = 1; number <= command.repeat; ++number) {
    for (std::size_t i = 0; i < command.policies.size(); ++i) {
      fmt::print(stderr, "{}: {}, {} of {}\n", kCompareName, command.policies[i], number,
                 command.repeat);
      Result<OneRun> one = run_once(command, command.policies[i], number);
      if (!one) {
        return Failure(one.error());
      }
      if (one->interrupted) {
        return 130;
      }
      if (number == 1) {
        policies.push_back({command.policies[i], {}, std::move(one->recording), one->begin});
      }
      policies[i].runs.push_back(one->figures);
      failed = failed || one->figures.failed > 0;
    }
  }
  const bool turns =
      std::find(command.policies.begin(), command.policies.end(), "rr") != command.policies.end();
  const std::string_view note = turns ? kTurnsNote : "";
  if (command.report) {
    if (const Result<void> written = write_file(
            *command.report, comparison_page("berth compare " + command.file, note, policies));
        !written) {
      return Failure(written.error());
    }
  }
  if (command.csv) {
    if (const Result<void> written = write_file(*command.csv, comparison_csv(policies)); !written) {
      return Failure(written.error());
    }
  }
  if (command.json) {
    fmt::print("{}\n", comparison_json(note, policies));
  } else {
    print_comparison(policies);
    fmt::print("{}{}", note, note.empty() ? "" : "\n");
  }
  return failed ? 1 : 0;
}

Result<int> compare_simulated(const CompareCommand& command) {
  if (!command.file.empty() || command.csv) {
    return fail(ErrorCode::Usage, command.csv
                                      ? "--simulate has no --csv: use --json, or berth sim --jobs"
                                      : "--simulate takes --generate KIND or --trace FILE: how "
                                        "long real tasks take is not known");
  }
  SimCommandOptions options;
  options.generate = command.generate;
  options.trace = command.trace;
  options.gpus = command.gpus == "auto" ? "" : command.gpus;
  options.seeds = command.repeat;
  options.json = command.json;
  options.report_file = command.report;
  options.study.policy.slice = command.slice;
  options.policies = {"fifo"};
  Result<PreparedStudy> study = prepare_study(options);
  if (!study) {
    return Failure(study.error());
  }
  study->contenders.clear();
  options.placements.clear();
  for (const std::string& policy : command.policies) {
    Contender contender = contender_of(policy);
    Result<std::string> packed = pack_policy(contender.policy);
    if (!packed) {
      return Failure(packed.error());
    }
    contender.policy = std::move(*packed);
    study->contenders.push_back(std::move(contender));
    options.placements.push_back(study->contenders.back().placement);
  }
  return run_prepared(options, *study);
}

}  // namespace

int compare_main(Words words) {
  ::signal(SIGPIPE, SIG_IGN);
  CompareCommand command;
  const Result<bool> parsed = compare_args(command).parse(words);
  if (!parsed) {
    return report(kCompareName, parsed.error());
  }
  if (!*parsed) {
    return 0;
  }
  if (command.repeat < 1 || command.repeat > 10000 || command.policies.empty()) {
    return report(kCompareName, Error{ErrorCode::Usage, "--repeat takes 1 to 10000"});
  }
  const Result<int> code = command.simulate ? compare_simulated(command) : compare_real(command);
  return code ? *code : report(kCompareName, code.error());
}

}  // namespace berth
