// Looking at jobs: queue, show and why.
#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>

#include "cli/commands.h"
#include "cli/toolkit/args.h"
#include "cli/toolkit/clock.h"
#include "cli/toolkit/json.h"
#include "cli/toolkit/selection.h"
#include "cli/toolkit/table.h"
#include "cli/toolkit/terminal.h"

namespace berth {
namespace {

std::string for_seconds(double seconds) {
  return format_duration(Duration(static_cast<std::int64_t>(std::max(0.0, seconds) * 1e9)));
}

/// How long it ran, runs or waits.
std::string age(const Json& job) {
  const double from =
      number(job, "started") > 0 ? number(job, "started") : number(job, "submitted");
  const double to = number(job, "ended") > 0 ? number(job, "ended") : wall_clock_seconds();
  return for_seconds(to - from);
}

std::string expected_start(const Json& job) {
  const double start = number(job, "expected_start");
  if (start <= 0) {
    return "";
  }
  const double left = start - wall_clock_seconds();
  return left < 1 ? "soon" : "in " + for_seconds(left);
}

std::string state_of(const Json& job) {
  return job.value("paused", false) ? "paused" : field(job, "state");
}

Colour colour_of(const std::string& state) {
  if (state == "running" || state == "starting") {
    return Colour::Green;
  }
  if (state == "failed" || state == "timed_out" || state == "oom" || state == "lost") {
    return Colour::Red;
  }
  return state == "held" || state == "paused" ? Colour::Yellow : Colour::Plain;
}

std::string names(const Json& list) {
  std::string text;
  for (const Json& name : list) {
    text += (text.empty() ? "" : ",") + (name.is_string() ? name.get<std::string>() : name.dump());
  }
  return text;
}

std::string signal_of(const Json& job) {
  const std::string number = field(job, "signal");
  const char* name = number.empty() ? nullptr : sigabbrev_np(job["signal"].get<int>());
  return number.empty() ? "" : fmt::format("SIG{}", name != nullptr ? name : number);
}

std::string exit_of(const Json& job) {
  return field(job, "signal").empty() ? field(job, "exit_code") : signal_of(job);
}

std::string full_name(const Json& job) {
  const std::string project = field(job, "project");
  return project.empty() ? field(job, "name") : project + "/" + field(job, "name");
}

/// What it has used at most, or, before that is seen, what it claims.
std::string memory_of(const Json& job) {
  for (const char* key : {"peak_memory_bytes", "mem"}) {
    if (const std::int64_t bytes = job.value(key, std::int64_t{0}); bytes > 0) {
      return format_bytes(Bytes{bytes});
    }
  }
  return "";
}

void print_job_table(const Json& jobs) {
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
  for (const Json& job : jobs) {
    const std::string state = state_of(job);
    table.row({field(job, "id"), Cell(state, colour_of(state)), printable(full_name(job)),
               printable(names(job["gpus"])), memory_of(job), age(job), expected_start(job),
               exit_of(job), printable(field(job, "command"))});
  }
  const Terminal terminal = describe_terminal(STDOUT_FILENO);
  std::fputs(table.render(terminal.columns, terminal.colour).c_str(), stdout);
}

std::string pairs(const Json& job, const char* key) {
  std::string text;
  if (const auto found = job.find(key); found != job.end() && found->is_object()) {
    for (const auto& [name, value] : found->items()) {
      text += fmt::format("{}{}={}", text.empty() ? "" : ", ", name,
                          value.is_string() ? value.get<std::string>() : value.dump());
    }
  }
  return text;
}

void print_job(const Json& job) {
  const auto line = [](std::string_view label, const std::string& value) {
    if (!value.empty()) {
      fmt::print("{:<14} {}\n", label, printable(value));
    }
  };
  const auto seconds = [&](const char* key) {
    return number(job, key) > 0 ? for_seconds(number(job, key)) : "";
  };
  const auto bytes = [&](const char* key) {
    return number(job, key) > 0 ? format_bytes(Bytes{static_cast<std::int64_t>(number(job, key))})
                                : "";
  };
  line("job", field(job, "id"));
  line("name", full_name(job));
  line("state", state_of(job));
  line("why", field(job, "why"));
  line("starts", expected_start(job));
  line("exit code", field(job, "exit_code"));
  line("signal", signal_of(job));
  line("reason", field(job, "reason"));
  line("command", field(job, "command"));
  line("directory", field(job, "directory"));
  line("needs", fmt::format("{} GPU{}{}", field(job, "gpus_needed"),
                            field(job, "gpus_needed") == "1" ? "" : "s",
                            bytes("mem").empty() ? "" : " with " + bytes("mem")));
  line("MPS", !job.value("mps", false) ? ""
              : field(job, "thread_percentage").empty()
                  ? "yes"
                  : field(job, "thread_percentage") + "% of the GPU's threads");
  line("priority", number(job, "priority") != 0 ? field(job, "priority") : "");
  line("weight", number(job, "weight") != 0 ? field(job, "weight") : "");
  line("not before", local_time(number(job, "begin")));
  line("after", names(job.value("after", Json::array())));
  line("retries", field(job, "retries"));
  line("time limit", seconds("timeout_s"));
  line("expected", seconds("expected_s"));
  line("sweep", field(job, "sweep"));
  line("parameters", pairs(job, "parameters"));
  line("labels", pairs(job, "labels"));
  line("GPUs", names(job["gpus"]));
  line("process", field(job, "pid"));
  line("submitted", local_time(number(job, "submitted")));
  line("started", local_time(number(job, "started")));
  line("ended", local_time(number(job, "ended")));
  line("ran", number(job, "started") > 0 ? age(job) : "");
  line("peak memory", bytes("peak_memory_bytes"));
  line("energy",
       number(job, "energy_j") > 0 ? fmt::format("{:.0f} J", number(job, "energy_j")) : "");
  line("output", field(job, "log"));
  const auto attempts = job.find("attempts");
  if (attempts == job.end() || attempts->size() < 2) {
    return;
  }
  for (const Json& attempt : *attempts) {
    line(fmt::format("attempt {}", field(attempt, "attempt")),
         fmt::format("{} {} on {}, output in {}",
                     field(attempt, "outcome").empty() ? "running" : field(attempt, "outcome"),
                     exit_of(attempt), names(attempt["gpus"]), field(attempt, "log")));
  }
}

/// The chosen jobs with all that is known of each.
Result<std::vector<Json>> read_each(const Selection& selection) {
  bool more = false;
  const Result<Json> jobs = list_jobs(selection, true, 0, more);
  if (!jobs) {
    return Failure(jobs.error());
  }
  if (jobs->empty()) {
    return fail(ErrorCode::NotFound, "there is no such job");
  }
  std::vector<Json> all;
  for (const Json& job : *jobs) {
    Result<Json> whole = ask_json("GET", "/v1/jobs/" + field(job, "id"));
    if (!whole) {
      return Failure(whole.error());
    }
    all.push_back(std::move(*whole));
  }
  return all;
}

/// Of a job that does not wait.
std::string state_in_words(const Json& job) {
  const std::string state = state_of(job);
  if (state == "paused") {
    return "it is paused (berth resume lets it go on)";
  }
  if (state == "running" || state == "starting") {
    return "it is " + state;
  }
  const std::string reason = field(job, "reason");
  return fmt::format("it has ended: {}{}", state, reason.empty() ? "" : ", " + reason);
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
  const Result<Json> jobs = list_jobs(selection, all, json ? 0 : limit, more);
  if (!jobs) {
    return report("berth queue", jobs.error());
  }
  if (json) {
    fmt::print("{}\n", Json{{"version", 1}, {"jobs", *jobs}}.dump());
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

int show_main(Words words) {
  Selection selection;
  bool json = false;
  Args args("berth show JOBS… [--json]", "Shows all that is known of jobs.");
  selection.declare(args, 1);
  args.flag("--json", json, "print JSON, a document for each job");
  args.example("berth show 12");
  args.example("berth show --json sweep=lr-search");
  const Result<bool> parsed = args.parse(words);
  if (!parsed) {
    return report("berth show", parsed.error());
  }
  if (!*parsed) {
    return 0;
  }
  const Result<std::vector<Json>> jobs = read_each(selection);
  if (!jobs) {
    return report("berth show", jobs.error());
  }
  bool first = true;
  for (const Json& job : *jobs) {
    if (json) {
      fmt::print("{}\n", job.dump());
      continue;
    }
    fmt::print("{}", first ? "" : "\n");
    first = false;
    print_job(job);
  }
  return 0;
}

int why_main(Words words) {
  Selection selection;
  Args args("berth why JOBS…", "Says why jobs have not started, and when they are expected to.");
  selection.declare(args, 1);
  args.example("berth why 12");
  args.example("berth why state=queued project=vision");
  const Result<bool> parsed = args.parse(words);
  if (!parsed) {
    return report("berth why", parsed.error());
  }
  if (!*parsed) {
    return 0;
  }
  const Result<std::vector<Json>> jobs = read_each(selection);
  if (!jobs) {
    return report("berth why", jobs.error());
  }
  for (const Json& job : *jobs) {
    std::string why = field(job, "why");
    if (why.empty()) {
      why = state_in_words(job);
    } else if (const std::string start = expected_start(job); !start.empty()) {
      why += "; expected to start " + start;
    }
    fmt::print("{}{}\n", jobs->size() == 1 ? "" : "job " + field(job, "id") + ": ", why);
  }
  return 0;
}

}  // namespace berth
