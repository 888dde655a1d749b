// `berth queue`: the jobs that run and wait.
#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

#include "cli/commands.h"
#include "cli/jobs/job_words.h"
#include "cli/toolkit/args.h"
#include "cli/toolkit/selection.h"
#include "cli/toolkit/table.h"
#include "cli/toolkit/terminal.h"

namespace berth {
namespace {

/// What it has used at most, or, before that is seen, what it claims.
std::string memory_words_of(const JobReport& job) {
  const Bytes claim = job.description.spec.needs.memory;
  const Bytes size = job.peak > Bytes{} ? job.peak : claim;
  return size > Bytes{} ? format_bytes(size) : "";
}

void print_job_table(const std::vector<JobReport>& jobs) {
  Table table;
  table.column("ID", Align::Right);
  table.column("STATE");
  table.column("NAME");
  table.column("GPUS");
  table.column("MEM", Align::Right);
  table.column("TIME", Align::Right);
  table.column("START");
  table.column("EXIT", Align::Right);
  table.column("COMMAND");
  for (const JobReport& job : jobs) {
    const std::string state = state_of(job);
    table.row({std::to_string(job.id.value), Cell(state, colour_of(state)),
               printable(full_name_of(job)), printable(joined(job.gpus)), memory_words_of(job),
               age_of(job), expected_start_of(job), exit_words(job.exit_code, job.signal),
               printable(job.description.command)});
  }
  const Terminal terminal = describe_terminal(STDOUT_FILENO);
  std::fputs(table.render(terminal.columns, terminal.colour).c_str(), stdout);
}

}  // namespace

int queue_main(Words words) {
  Selection selection;
  bool all = false;
  bool json = false;
  std::int64_t limit = 100;
  Args args("berth queue [JOBS…] [options]",
            "Shows the jobs that run and wait, in order of their numbers.");
  selection.declare(args, 0);
  args.flag("-a,--all", all, "also those that have ended");
  args.flag("--json", json, "print JSON");
  args.value("-n,--limit", "N", "at most this many (default: 100, with --json all; 0: all)", limit);
  args.example("berth queue");
  args.example("berth queue --all project=vision state=failed");
  args.example("berth queue --all --json sweep=lr-search");
  const Result<bool> parsed = args.parse(words);
  if (!parsed) {
    return report("berth queue", parsed.error());
  }
  if (!*parsed) {
    return 0;
  }
  bool more = false;
  Result<std::vector<JobReport>> jobs = list_jobs(selection, all, json ? 0 : limit, more);
  if (!jobs) {
    return report("berth queue", jobs.error());
  }
  if (json) {
    fmt::print("{}\n", to_json(JobsReply{std::move(*jobs), std::nullopt}));
    return 0;
  }
  if (jobs->empty()) {
    fmt::print(stderr, "{}\n",
               !selection.empty() ? "no job matches"
               : all              ? "no jobs"
                                  : "no jobs run or wait (--all: those that ended)");
    return 0;
  }
  print_job_table(*jobs);
  if (more) {
    fmt::print(stderr, "(the first {}: --limit 0 shows all)\n", limit);
  }
  return 0;
}

}  // namespace berth
