// `berth batch`: the tasks of a CSV file, batch after batch, packed by the memory they use.
#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "base/paths.h"
#include "base/read_file.h"
#include "cli/batch/batch_daemon.h"
#include "cli/batch/batch_options.h"
#include "cli/commands.h"
#include "cli/toolkit/gpus_option.h"
#include "cli/toolkit/job_options.h"
#include "cli/toolkit/line_flags.h"
#include "cli/toolkit/words.h"
#include "exec/direct_runner.h"

namespace berth {
namespace {

constexpr std::string_view kBatchName = "berth batch";
/// What the priority-based scheduler runs when it is told nothing.
constexpr const char* kSeedFile = "scheduler_files/commands_1.csv";

Result<std::optional<std::size_t>> parse_header(std::string_view text) {
  if (text == "None" || text == "none") {
    return std::optional<std::size_t>();
  }
  const Result<std::int64_t> row = parse_integer(text, "--header");
  if (!row || *row < 0) {
    return fail(ErrorCode::Usage,
                fmt::format("--header is the number of a row, from 0, or None, not '{}'", text));
  }
  return std::optional(static_cast<std::size_t>(*row));
}

/// Rows that are done, but read otherwise now: nobody can tell whether they are still meant.
Result<void> check_unchanged(const BatchCommand& command, const std::vector<Task>& tasks,
                             const BatchProgress& progress) {
  std::string changed;
  for (const auto& [row, record] : progress.rows) {
    const bool done = record.state == RowState::Succeeded || record.state == RowState::Submitted;
    if (done && row < tasks.size() && record.fingerprint != tasks[row].fingerprint) {
      changed += fmt::format("\n  line {}, the {}. row", tasks[row].line, row + 1);
    }
  }
  if (changed.empty()) {
    return {};
  }
  return fail(ErrorCode::Refused,
              fmt::format("{} was changed where rows are done already:{}\nNew rows belong at the "
                          "end; --restart runs all rows again, {} says what is done",
                          command.file, changed, command.journal()));
}

Result<int> run_batch(BatchCommand& command, const std::vector<Task>& tasks,
                      BatchJournal& journal) {
  const auto devices = open_devices(command.gpus);
  if (!devices) {
    return Failure(devices.error());
  }
  auto runner = DirectRunner::make();
  if (!runner) {
    return Failure(runner.error());
  }
  const auto locks =
      DeviceLocks::open({"run", "", "berth batch " + command.file}, (*devices)->list());
  if (!locks) {
    return Failure(locks.error());
  }
  const std::unique_ptr<RunObserver> reporter =
      choose_reporter(command.report, command.json, command.run.outputs);
  BatchRun batch(command.batch, tasks, journal, *reporter);
  Run run(command.run, **devices, locks->get(), **runner, batch);
  const Result<RunSummary> done = run.execute(batch.input());
  if (!done) {
    return Failure(done.error());
  }
  return exit_code(batch.summary());
}

/// There is nothing to run: why, and whether that is well.
int tell_all_done(const BatchCommand& command, const std::vector<Task>& tasks,
                  const BatchProgress& progress) {
  std::size_t failed = 0;
  for (std::size_t row = 0; row < tasks.size(); ++row) {
    failed += progress.row(row).state == RowState::Failed ? 1 : 0;
  }
  fmt::print(stderr, "{}: nothing to run: {}\n", kBatchName,
             tasks.empty() ? command.file + " has no rows"
             : failed > 0
                 ? fmt::format("all rows have ended, {} of them failed (--rerun-failed runs those "
                               "again)",
                               failed)
                 : "all rows are done (--restart runs them again)");
  return failed > 0 ? 1 : 0;
}

/// Whether an earlier command has queued rows that have not ended, as far as is known.
bool has_queued_rows(const BatchProgress& progress) {
  return std::any_of(progress.rows.begin(), progress.rows.end(),
                     [](const auto& row) { return row.second.state == RowState::Submitted; });
}

Result<int> execute_batch(BatchCommand& command) {
  if (const Result<void> settled = command.settle(); !settled) {
    return Failure(settled.error());
  }
  const Result<std::string> text = read_file(command.file);
  if (!text) {
    return Failure(text.error());
  }
  const Result<std::vector<Task>> tasks = read_tasks(*text, command.format);
  if (!tasks) {
    return fail(tasks.error().code, fmt::format("{}: {}", command.file, tasks.error().message));
  }
  if (command.status) {
    return show_batch(command, *tasks);
  }
  Result<BatchJournal> journal = BatchJournal::open(command.journal(), command.ids);
  if (!journal) {
    return Failure(journal.error());
  }
  if (command.restart) {
    if (const Result<void> begun = journal->restart(); !begun) {
      return Failure(begun.error());
    }
  }
  if (const Result<void> noted = note_ends(*journal); !noted) {
    return Failure(noted.error());
  }
  const BatchProgress& progress = journal->progress();
  if (const Result<void> same = check_unchanged(command, *tasks, progress); !same) {
    return Failure(same.error());
  }
  bool pending = false;
  for (std::size_t row = 0; row < tasks->size() && !pending; ++row) {
    pending = is_pending(progress.row(row), (*tasks)[row], command.batch.rerun_failed);
  }
  const bool awaits = command.goes_away() && !command.submit;
  if (!pending && !(awaits && has_queued_rows(progress))) {
    return tell_all_done(command, *tasks, progress);
  }
  if (!command.submit && !awaits) {
    return run_batch(command, *tasks, *journal);
  }
  const Result<int> queued = pending ? submit_batch(command, *tasks, *journal) : Result<int>(0);
  return queued && awaits ? await_batch(*journal) : queued;
}

}  // namespace

void BatchCommand::declare(Args& args) {
  args.positional("FILE.csv", "the tasks", 0, 1, [this](std::string_view word) -> Result<void> {
    file = word;
    return {};
  });
  args.value("-c,--csv", "FILE", "the same", file);
  args.value("-n,--num", "N",
             "tasks in a batch (default: all); the next begins when all have ended", num);
  args.value("--header", "ROW", "the row of the header, from 0 (the default), or None",
             [this](std::string_view word) -> Result<void> {
               const Result<std::optional<std::size_t>> row = parse_header(word);
               if (!row) {
                 return Failure(row.error());
               }
               format.header = *row;
               return {};
             });
  args.value("--python", "PROGRAM", "what -1 as Executable stands for (default: python3)",
             format.python);
  args.value("--profile-epochs", "N",
             "how long a script runs first when its use of memory is not known\n"
             "(default: 2; 0: not at all, it then has a GPU to itself)",
             batch.profile_epochs);
  args.flag("--rerun-failed", batch.rerun_failed, "also run the rows again that failed");
  args.flag("--restart", restart, "run all rows again; their ids go on counting");
  args.flag("--status", status, "print how far the file has come; run nothing");
  args.flag("--submit", submit,
            "queue the tasks in the daemon, each batch after the one before;\n"
            "there is no profiling: a script that is not known runs alone first.\n"
            "Of the options below, --mps, --timeout, --retries and --weight\n"
            "count then");
  declare_target(args, run.defaults.needs);
  add_gpus_option(args, gpus);
  sharing.declare(args);
  mps.declare(args, MpsOption::Word::May);
  add_line_flag(args, defaults, "timeout", "--timeout", "TIME",
                "end a task that runs longer: 90s, 10m, 2h30m");
  args.value("--grace", "TIME", "between TERM and KILL when a task is ended (default: 10s)",
             run.grace);
  add_line_flag(args, defaults, "retries", "--retries", "N",
                "run a task that fails again, up to N times");
  add_weight_flag(args, defaults);
  args.value("--log-dir", "DIR", "a log file per run: DIR/1-profile-1.log, DIR/2-task-1.log, …",
             run.outputs.log_folder);
  args.flag("--prefix", report.prefix, "print each task's output with its number in front");
  args.flag("--json", json, "one JSON object per event, as berth run has them; or the status");
  args.flag("-q,--quiet", report.quiet, "print only failures and the last line");
  args.flag("-v,--verbose", report.verbose, "also print what starts");
  args.example("berth batch tasks.csv --num 20");
  args.example("berth batch --csv tasks.csv --num 20 --header None --gpus 0,1 --log-dir logs");
  args.example("berth batch tasks.csv --status");
  args.example("berth batch tasks.csv --submit");
  args.example("berth batch tasks.csv --on slurm");
}

Result<void> BatchCommand::settle() {
  if (file.empty() && ::access(kSeedFile, F_OK) == 0) {
    file = kSeedFile;
  }
  if (file.empty()) {
    return fail(ErrorCode::Usage, "which file? say berth batch FILE.csv");
  }
  if (num < 0 || batch.profile_epochs < 0) {
    return fail(ErrorCode::Usage, "--num and --profile-epochs cannot be negative");
  }
  if (goes_away() && gpus != environment_variable("BERTH_GPUS")) {
    return fail(ErrorCode::Usage,
                "--gpus names devices of this machine, and --on a cluster: use one of the two");
  }
  if (format.python.find('/') != format.python.npos) {
    std::error_code error;  // tasks run in other folders
    format.python = std::filesystem::absolute(format.python, error);
  }
  batch.size = static_cast<std::size_t>(num);
  report.program = kBatchName;
  run.buffer = sharing.buffer;
  run.placement = sharing.placement.value_or(kUsualPlacement);
  run.enforce_claims = sharing.enforce_claims;
  run.oom_risk = sharing.oom_risk.value_or(kUsualOomRisk);
  defaults.apply(run.defaults);
  if (Result<void> applied = mps.apply(run.defaults.needs); !applied) {
    return applied;
  }
  run.recipe = task_recipe;
  const Result<Paths> paths = find_paths();
  if (!paths) {
    return Failure(paths.error());
  }
  run.peaks = batch.peaks = paths->state + "/peaks";
  ids = paths->state + "/batch-ids";
  return {};
}

std::string BatchCommand::journal() const {
  std::error_code error;
  const std::filesystem::path path = std::filesystem::canonical(file, error);
  return (error ? file : path.string()) + ".berth";
}

int batch_main(Words words) {
  ::signal(SIGPIPE, SIG_IGN);  // tasks are worth more than messages about them
  BatchCommand command;
  Args args(
      "berth batch FILE.csv [options]",
      "Runs the tasks of a CSV file with the columns Directory, Executable (-1: python3),\n"
      "Filename, Epochs and Priority, each as `EXECUTABLE FILENAME --epochs=E --id=I` in its\n"
      "Directory. Batches are taken in the order of the file; in a batch lower priorities go\n"
      "first. A script whose use of GPU memory is not known runs for two epochs to find out;\n"
      "then as many tasks run at once as fit. The file is not changed: FILE.csv.berth beside\n"
      "it says what is done, so that the same command goes on after an interruption.");
  command.declare(args);
  const Result<bool> parsed = args.parse(words);
  if (!parsed) {
    return report(kBatchName, parsed.error());
  }
  if (!*parsed) {
    return 0;
  }
  const Result<int> code = execute_batch(command);
  return code ? *code : report(kBatchName, code.error());
}

}  // namespace berth
