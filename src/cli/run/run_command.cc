// `berth run`: commands from a file or standard input on GPUs.
#include <fmt/format.h>
#include <signal.h>
#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "base/paths.h"
#include "base/signals.h"
#include "cli/commands.h"
#include "cli/run/command_file.h"
#include "cli/run/pass_input.h"
#include "cli/run/run_on.h"
#include "cli/run/run_record.h"
#include "cli/run/run_report.h"
#include "cli/toolkit/args.h"
#include "cli/toolkit/gpus_option.h"
#include "cli/toolkit/line_flags.h"
#include "cli/toolkit/memory_options.h"
#include "cli/toolkit/model_option.h"
#include "cli/toolkit/mps_option.h"
#include "cli/toolkit/table.h"
#include "exec/direct_runner.h"
#include "policy/policies.h"
#include "run/run.h"
#include "run/run_turns.h"
#include "spec/shell_words.h"

namespace berth {
namespace {

struct RunCommand {
  std::string gpus;
  std::string on;  // local: others are not run here
  std::string file = "-";
  RunOptions run;
  ReportOptions report;
  LineOptions defaults;
  SharingOptions sharing;
  MpsOption mps;
  std::int64_t per_gpu = 1;
  std::optional<std::string> seed;
  RecordFiles record;
  Duration slice = std::chrono::seconds(10);
  bool nul = false;
  bool json = false;
  bool dry_run = false;
  bool foreground = false;  // one command, which has the terminal
  bool resume = false;
  bool resume_failed = false;
};

Args run_args(RunCommand& command) {
  Args args(
      "berth run [options] [FILE | -- COMMAND…]",
      "Runs commands from FILE or standard input on GPUs: one line is one shell command, each\n"
      "gets a GPU of its own, and a line starts the moment it arrives and a GPU is free. Words\n"
      "@key=value before a command are its options: @gpus=2 @priority=-5 @timeout=1h\n"
      "@expected=10m @retries=2 @name=N @after=ok:N @mem=8GiB @share=50 @mps=on @project=P\n"
      "@weight=3. A line <<END begins a command of several lines.\n"
      "After -- stands one command, which runs in the foreground with this terminal as its input;\n"
      "berth run then ends with its exit code.");
  args.positional("FILE", "commands, one per line; - is standard input (the default)", 0, 1,
                  [&](std::string_view word) -> Result<void> {
                    command.file = word;
                    return {};
                  });
  add_gpus_option(args, command.gpus);
  args.value("--on", "TARGET",
             "have the daemon run them on a cluster, such as slurm, and wait for all\n"
             "(berth run --on slurm --help)",
             command.on);
  add_claim_flags(args, command.defaults, command.run.defaults.needs.profile);
  add_line_flag(args, command.defaults, "share", "--share", "PERCENT",
                "share of each GPU's compute that a job claims");
  command.sharing.declare(args);
  args.value("--per-gpu", "N", "jobs at once on each GPU (default: 1)", command.per_gpu);
  command.mps.declare(args);
  args.flag("-0,--null", command.nul, "jobs are separated by NUL bytes, not newlines");
  add_line_flag(args, command.defaults, "timeout", "--timeout", "TIME",
                "end a job that runs longer: 90s, 10m, 2h30m");
  add_line_flag(args, command.defaults, "expected", "--expected", "TIME",
                "how long a job is expected to run (default: as long as such jobs did)");
  args.value("--grace", "TIME", "between TERM and KILL when a job is ended (default: 10s)",
             command.run.grace);
  add_line_flag(args, command.defaults, "retries", "--retries", "N",
                "run a job that fails again, up to N times");
  args.value("--policy", "NAME",
             wrap_words(fmt::format("who goes first: {}, rr (default: priority)",
                                    fmt::join(live_policy_names(), ", ")),
                        66),
             [&](std::string_view name) -> Result<void> {
               Result<std::string> packed = pack_policy(std::string(name));
               if (!packed) {
                 return Failure(packed.error());
               }
               command.run.policy = std::move(*packed);
               return {};
             });
  args.value("--slice", "TIME",
             "--policy rr: how long a turn is (default: 10s). Jobs are stopped and\n"
             "continued; what they hold of GPU memory stays there",
             command.slice);
  add_weight_flag(args, command.defaults);
  args.value("--log-dir", "DIR", "one log file per job: DIR/1.log, DIR/2.log, …",
             command.run.outputs.log_folder);
  args.flag("--prefix", command.report.prefix, "print each job's output with its number in front");
  args.value("--joblog", "FILE", "one line per ended job, in GNU parallel's columns",
             command.run.joblog);
  args.value("--record", "FILE",
             "the use of the devices: FILE.csv has nvidia-smi's columns, FILE.html\n"
             "is a page with use, power, energy and who ran where; may be repeated",
             [&](std::string_view path) { return add_record_file(command.record, path); });
  args.value("--gantt", "FILE", "draw who ran where, as .svg or .png",
             [&](std::string_view path) -> Result<void> {
               command.record.gantt = path;
               return check_picture(path);
             });
  args.flag("--resume", command.resume, "skip what the joblog says has ended");
  args.flag("--resume-failed", command.resume_failed, "skip what the joblog says has succeeded");
  args.value("--halt", "WHEN", "never, soon,fail=1, now,fail=3, soon,fail=10% (default: never)",
             [&](std::string_view word) -> Result<void> {
               const Result<Halt> halt = parse_halt(word);
               if (!halt) {
                 return Failure(halt.error());
               }
               command.run.halt = *halt;
               return {};
             });
  args.flag("--shuffle", command.run.shuffle, "run in random order, once all lines are read");
  args.value("--seed", "N", "the same order each time with --shuffle", command.seed);
  args.value("--drain-signal", "SIGNAL", "a signal that, like INT and TERM, stops starting jobs",
             [&](std::string_view word) -> Result<void> {
               const Result<int> signal = parse_signal(word);
               if (!signal) {
                 return Failure(signal.error());
               }
               command.run.drain_signal = *signal;
               return {};
             });
  args.flag("-n,--dry-run", command.dry_run, "check all lines and print them; run nothing");
  args.flag("--json", command.json, "one JSON object per event on standard output");
  args.flag("-q,--quiet", command.report.quiet, "print only failures and the last line");
  args.flag("-v,--verbose", command.report.verbose, "also print what starts");
  args.example("berth run --gpus 0,1 commands.txt");
  args.example("berth run -- python train.py --lr 0.1");
  args.example("tail -f -n 0 gpu.queue | berth run");
  args.example("berth run --per-gpu 2 --log-dir logs --joblog log.tsv --resume commands.txt");
  args.example("berth run --record use.csv --record use.html --gantt jobs.png commands.txt");
  args.example("berth run --per-gpu 4 --mps --thread-percentage 50 commands.txt");
  args.example("echo '@gpus=2 @timeout=1h torchrun train.py' | berth run --gpus sim:4");
  return args;
}

/// What can only be checked when all options are known.
Result<void> settle(RunCommand& command) {
  RunOptions& run = command.run;
  if (command.per_gpu < 1 || command.per_gpu > static_cast<std::int64_t>(kWholeShare)) {
    return fail(ErrorCode::Usage, fmt::format("--per-gpu must be from 1 to {}", kWholeShare));
  }
  if (command.defaults.share && command.per_gpu > 1) {
    return fail(ErrorCode::Usage,
                "--share and --per-gpu cannot be given together: each says how "
                "many jobs share a GPU");
  }
  if (command.gpus == kNoDevices) {
    run.defaults.needs.gpus = 0;
  }
  command.defaults.apply(run.defaults);
  if (command.per_gpu > 1) {
    run.defaults.needs.share = kWholeShare / static_cast<std::uint32_t>(command.per_gpu);
  }
  if (run.policy == "rr") {
    use_turns(run, command.slice);
  }
  run.buffer = command.sharing.buffer;
  run.placement = command.sharing.placement.value_or(kUsualPlacement);
  run.enforce_claims = command.sharing.enforce_claims;
  run.oom_risk = command.sharing.oom_risk.value_or(kUsualOomRisk);
  if (const Result<Paths> paths = find_paths()) {
    run.peaks = paths->state + "/peaks";
  }
  if (Result<void> applied = command.mps.apply(run.defaults.needs); !applied) {
    return applied;
  }
  if (command.resume || command.resume_failed) {
    if (!run.joblog) {
      return fail(ErrorCode::Usage, "--resume needs the --joblog FILE of the run to go on with");
    }
    if (run.shuffle && !command.seed) {
      return fail(ErrorCode::Usage,
                  "--resume with --shuffle needs the --seed of the first run: without it the jobs "
                  "would have other numbers");
    }
    run.resume =
        command.resume_failed ? RunOptions::Resume::Failed : RunOptions::Resume::Unfinished;
  }
  if (command.seed) {
    const Result<std::int64_t> seed = parse_integer(*command.seed, "--seed");
    if (!seed) {
      return Failure(seed.error());
    }
    run.seed = static_cast<std::uint64_t>(*seed);
  } else if (::getrandom(&run.seed, sizeof run.seed, 0) < 0) {
    return fail_errno("cannot draw a seed", errno);
  }
  return {};
}

Result<int> rehearse(RunCommand& command, Devices& devices, Runner& runner, Input input) {
  const std::unique_ptr<RunObserver> reporter = make_plain_reporter(command.report);
  Run run(command.run, devices, nullptr, runner, *reporter);
  std::string text;
  const Result<void> done =
      run.rehearse(std::move(input), [&](const JobLine& line, const Needs& needs) {
        text += fmt::format("{}\t{}\n", describe(needs), one_line(line.command));
      });
  if (!done) {
    return Failure(done.error());
  }
  std::fputs(text.c_str(), stdout);
  return 0;
}

/// One command has the terminal to itself, and its exit code is ours, in `code`.
std::unique_ptr<RunObserver> prepare_foreground(RunCommand& command, int& code) {
  RunOptions& options = command.run;
  options.ends_at_first_signal = true;
  // The end of its output tells an end by GPU memory from others.
  options.outputs.has_screen = true;
  options.outputs.capture_stderr = ::isatty(STDERR_FILENO) == 0;
  options.adapt = [](Launch& launch, std::span<const DeviceId>) { pass_input(launch); };
  return make_foreground_reporter(command.report, code);
}

Result<int> execute_run(RunCommand& command, std::optional<Input> given) {
  if (const Result<void> settled = settle(command); !settled) {
    return Failure(settled.error());
  }
  if (!given) {
    if (command.file != "-" && !command.nul) {
      if (const Result<void> checked = check_command_file(command.file); !checked) {
        return Failure(checked.error());
      }
    }
    const auto separator = command.nul ? JobReader::Separator::Nul : JobReader::Separator::Newline;
    Result<Input> input = Input::open(command.file, separator);
    if (!input) {
      return Failure(input.error());
    }
    if (command.file == "-" && ::isatty(STDIN_FILENO) != 0) {
      std::fputs("berth run: reading commands from the terminal; end with Ctrl-D\n", stderr);
    }
    given = std::move(*input);
  }
  const auto devices = open_devices(command.gpus);
  if (!devices) {
    return Failure(devices.error());
  }
  auto runner = DirectRunner::make();
  if (!runner) {
    return Failure(runner.error());
  }
  if (command.dry_run) {
    return rehearse(command, **devices, **runner, std::move(*given));
  }
  const auto locks = DeviceLocks::open(
      {"run", "", command.file == "-" ? "berth run" : "berth run " + command.file},
      (*devices)->list());
  if (!locks) {
    return Failure(locks.error());
  }
  constexpr int kInterrupted = 130;
  int code = kInterrupted;  // of a command in the foreground, unless it starts
  const std::unique_ptr<RunObserver> reporter =
      command.foreground ? prepare_foreground(command, code)
                         : choose_reporter(command.report, command.json, command.run.outputs);
  Result<std::optional<RunRecord>> record =
      RunRecord::open(command.record, command.file, **devices, *reporter);
  if (!record) {
    return Failure(record.error());
  }
  RunObserver& observer = *record ? (*record)->observer() : *reporter;
  Run run(command.run, **devices, locks->get(), **runner, observer);
  const Result<RunSummary> summary = run.execute(std::move(*given));
  if (!summary) {
    return Failure(summary.error());
  }
  if (*record) {
    if (const Result<void> written = (*record)->finish(); !written) {
      return Failure(written.error());
    }
  }
  return command.foreground ? code : exit_code(*summary);
}

/// A reader that has gone must not end the run: jobs are worth more than messages about them.
void outlive_readers() { ::signal(SIGPIPE, SIG_IGN); }

int run_with(Words words, std::optional<Input> input) {
  outlive_readers();
  RunCommand command;
  Args args = run_args(command);
  const Result<bool> parsed = args.parse(words);
  if (!parsed) {
    return report("berth run", parsed.error());
  }
  if (!*parsed) {
    return 0;
  }
  const Result<int> code = execute_run(command, std::move(input));
  return code ? *code : report("berth run", code.error());
}

}  // namespace

int run_main(Words words) {
  if (const std::optional<int> code = run_on_target(words)) {
    return *code;
  }
  const auto dashes = std::find(words.begin(), words.end(), "--");
  if (dashes == words.end()) {
    return run_with(words, std::nullopt);
  }
  outlive_readers();
  RunCommand command;
  const auto own = static_cast<std::size_t>(dashes - words.begin());
  const Result<bool> parsed = run_args(command).parse(words.first(own));
  if (!parsed) {
    return report("berth run", parsed.error());
  }
  if (!*parsed) {
    return 0;
  }
  const Words rest = words.subspan(own + 1);
  if (rest.empty() || command.file != "-") {
    return report("berth run",
                  Error{ErrorCode::Usage, rest.empty() ? "the command after -- is missing"
                                                       : "give a file or a command, not both"});
  }
  // Whoever asks for events, or for nothing to be run, gets that.
  command.foreground = !command.json && !command.dry_run;
  std::string line = rest.size() == 1 ? std::string(rest[0]) : shell_words(rest);
  const Result<int> code =
      execute_run(command, Input::from_jobs({JobLine{0, std::move(line), {}}}));
  return code ? *code : report("berth run", code.error());
}

int run_jobs(std::vector<JobLine> jobs, Words run_words) {
  return run_with(run_words, Input::from_jobs(std::move(jobs)));
}

}  // namespace berth
