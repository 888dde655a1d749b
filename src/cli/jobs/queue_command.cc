// `berth queue`: the jobs that run and wait.
#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

#include "cli/commands.h"
#include "cli/jobs/queue_view.h"
#include "cli/toolkit/args.h"
#include "cli/toolkit/selection.h"
#include "cli/toolkit/table.h"
#include "cli/toolkit/watch.h"

namespace berth {
namespace {

struct QueueCommand {
  Selection selection;
  JobOrdering order;
  std::vector<std::string> columns;
  bool all = false;
  bool json = false;
  std::int64_t limit = 100;
  std::optional<Duration> watch;
};

Args queue_args(QueueCommand& command) {
  Args args("berth queue [JOBS…] [options]",
            "Shows the jobs that run, then those that wait in the order in which they should\n"
            "start, then (with --all) those that ended, the newest end first.");
  command.selection.declare(args, 0);
  args.flag("-a,--all", command.all, "also the jobs that have ended");
  args.value("--sort", "KEY",
             "id, name, state, priority, submitted, started, ended, duration or\n"
             "peak instead of that order; -KEY for the highest first",
             [&command](std::string_view key) -> Result<void> {
               command.order.descending = key.starts_with('-');
               command.order.sort = key.substr(command.order.descending ? 1 : 0);
               return {};
             });
  args.value("--columns", "LIST",
             fmt::format("what to show, with commas between: {}", fmt::join(queue_columns(), ", ")),
             [&command](std::string_view text) -> Result<void> {
               Result<std::vector<std::string>> columns = parse_queue_columns(text);
               if (!columns) {
                 return Failure(columns.error());
               }
               command.columns = std::move(*columns);
               return {};
             });
  args.value("-n,--limit", "N", "at most this many (default: 100, with --json all; 0: all)",
             command.limit);
  add_watch_option(args, command.watch, "2s");
  args.flag("--json", command.json, "print JSON, in order of the jobs' numbers");
  args.example("berth queue --watch");
  args.example("berth queue --all project=vision state=failed");
  args.example("berth queue --all --sort -duration --columns id,name,time,exit");
  args.example("berth queue --all --json sweep=lr-search");
  return args;
}

/// The line below the table: how many there are of which kind, and how many are not shown.
std::string counts_line(const OrderedJobs& found) {
  std::string text;
  for (const auto& [state, count] : found.states) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, state);
  }
  if (const std::uint64_t left = found.count - found.jobs.size(); left > 0) {
    text += fmt::format("; {} more not shown (--limit 0 shows all)", left);
  }
  return text + "\n";
}

struct QueueScreen {
  std::string table;
  std::string note;  // below it
};

Result<QueueScreen> queue_screen(const QueueCommand& command) {
  const Terminal terminal = describe_terminal(STDOUT_FILENO);
  auto limit = static_cast<std::size_t>(command.limit);
  if (command.watch && terminal.interactive && terminal.rows > 3) {
    limit = limit == 0 ? terminal.rows - 3 : std::min(limit, terminal.rows - 3);
  }
  const Result<OrderedJobs> found =
      list_ordered_jobs(command.selection, command.all, command.order, limit);
  if (!found) {
    return Failure(found.error());
  }
  if (found->jobs.empty()) {
    return QueueScreen{"", !command.selection.empty() ? "no job matches\n"
                           : command.all              ? "no jobs\n"
                                         : "no jobs run or wait (--all: those that ended)\n"};
  }
  return QueueScreen{queue_table(found->jobs, command.columns, terminal), counts_line(*found)};
}

Result<int> show_queue(const QueueCommand& command) {
  if (command.limit < 0) {
    return fail(ErrorCode::Usage, "--limit must be 0 or more");
  }
  if (command.json) {
    Result<std::vector<JobReport>> jobs = list_jobs(command.selection, command.all);
    if (!jobs) {
      return Failure(jobs.error());
    }
    fmt::print("{}\n", to_json(JobsReply{std::move(*jobs), std::nullopt}));
    return 0;
  }
  if (command.watch) {
    return watch_screen(*command.watch, true, [&]() -> Result<std::string> {
      Result<QueueScreen> screen = queue_screen(command);
      return screen ? Result<std::string>(screen->table + screen->note) : Failure(screen.error());
    });
  }
  const Result<QueueScreen> screen = queue_screen(command);
  if (!screen) {
    return Failure(screen.error());
  }
  std::fputs(screen->table.c_str(), stdout);
  std::fflush(stdout);
  std::fputs(screen->note.c_str(), stderr);
  return 0;
}

}  // namespace

int queue_main(Words words) {
  QueueCommand command;
  Args args = queue_args(command);
  const Result<bool> parsed = args.parse(words);
  if (!parsed) {
    return report("berth queue", parsed.error());
  }
  if (!*parsed) {
    return 0;
  }
  const Result<int> code = show_queue(command);
  return code ? *code : report("berth queue", code.error());
}

}  // namespace berth
