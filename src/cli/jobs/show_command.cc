// All that is known of jobs: show and why.
#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

#include "base/signals.h"
#include "cli/commands.h"
#include "cli/jobs/job_words.h"
#include "cli/toolkit/args.h"
#include "cli/toolkit/clock.h"
#include "cli/toolkit/daemon_client.h"
#include "cli/toolkit/selection.h"
#include "cli/toolkit/table.h"
#include "cli/toolkit/terminal.h"

namespace berth {
namespace {

std::string pairs(const std::map<std::string, std::string>& values) {
  std::string text;
  for (const auto& [name, value] : values) {
    text += fmt::format("{}{}={}", text.empty() ? "" : ", ", name, value);
  }
  return text;
}

std::string followed(const std::vector<Dependency>& after) {
  std::vector<std::string> words;
  for (const Dependency& dependency : after) {
    words.push_back(fmt::format("{}:{}", when_name(dependency.when), dependency.job.value));
  }
  return joined(words);
}

/// "2 GPUs with 8.0 GiB".
std::string needs_words(const Needs& needs, std::uint64_t claim_runs) {
  return fmt::format("{} GPU{}{}{}", needs.gpus, needs.gpus == 1 ? "" : "s",
                     needs.memory > Bytes{} ? " with " + format_bytes(needs.memory) : "",
                     claim_runs == 0 ? ""
                                     : fmt::format(" (learned from {} {})", claim_runs,
                                                   claim_runs == 1 ? "run" : "runs"));
}

std::string mps_words(const Needs& needs) {
  return needs.mps == 0 ? ""
         : needs.thread_percentage == 0
             ? "yes"
             : fmt::format("{}% of the GPU's threads", needs.thread_percentage);
}

/// "lab, on node n2, as job 17_4 there"; empty: on this machine.
std::string place_words(const JobReport& job) {
  const Needs& needs = job.description.spec.needs;
  if (!needs.away()) {
    return needs.spill.empty() ? "" : "this machine, or a cluster that would start it earlier";
  }
  return fmt::format("{}{}{}", needs.target, job.node.empty() ? "" : ", on node " + job.node,
                     job.slurm_job.empty() ? "" : fmt::format(", as job {} there", job.slurm_job));
}

void print_job(const JobReport& job) {
  const std::size_t columns = describe_terminal(STDOUT_FILENO).columns;
  const auto line = [columns](std::string_view label, const std::string& value) {
    if (!value.empty()) {
      constexpr std::size_t kLabel = 15;
      const std::size_t width = columns > kLabel ? columns - kLabel : 0;
      fmt::print("{:<14} {}\n", label, indent_lines(wrap_words(printable(value), width), kLabel));
    }
  };
  const auto number = [](auto value, auto usual) {
    return value == usual ? "" : fmt::format("{}", value);
  };
  const auto length = [](Duration time) { return time == kForever ? "" : format_duration(time); };
  const JobDescription& told = job.description;
  const JobSpec& spec = told.spec;
  line("job", std::to_string(job.id.value));
  line("name", full_name_of(job));
  line("state", state_of(job));
  line("why", job.why);
  line("starts", expected_start_of(job));
  line("promise", promise_of(job));
  line("memory", unknown_memory_of(job));
  line("exit code", job.exit_code ? std::to_string(*job.exit_code) : "");
  line("signal", job.signal ? signal_name(*job.signal) : "");
  line("reason", job.reason);
  line("command", told.command);
  line("directory", told.directory);
  line("needs", needs_words(spec.needs, job.claim_runs));
  line("MPS", mps_words(spec.needs));
  line("priority", number(spec.priority, 0));
  line("weight", number(spec.weight, 1));
  line("not before", local_time(to_seconds(spec.begin.time_since_epoch())));
  line("after", followed(spec.after));
  line("retries", number(spec.retry.most, 0));
  line("time limit", length(spec.limit));
  line("expected", length(spec.expected));
  line("sweep", told.sweep);
  line("parameters", pairs(told.parameters));
  line("labels", pairs(told.labels));
  line("GPUs", joined(job.gpus));
  line("runs on", place_words(job));
  line("process", number(job.pid, 0));
  line("submitted", local_time(job.submitted));
  line("started", local_time(job.started));
  line("ended", local_time(job.ended));
  line("ran", job.started > 0 ? age_of(job) : "");
  line("peak memory", job.peak > Bytes{} ? format_bytes(job.peak) : "");
  line("energy", job.energy.value_or(0) > 0 ? fmt::format("{:.0f} J", *job.energy) : "");
  line("output", job.log);
  if (job.attempts.size() < 2) {
    return;
  }
  for (const AttemptReport& attempt : job.attempts) {
    line(fmt::format("attempt {}", attempt.attempt),
         fmt::format(
             "{} {} on {}, output in {}", attempt.outcome.empty() ? "running" : attempt.outcome,
             exit_words(attempt.exit_code, attempt.signal), joined(attempt.gpus), attempt.log));
  }
}

/// A job as the daemon told of it, and what that says.
struct Told {
  std::string text;
  JobReport job;
};

/// The chosen jobs with all that is known of each.
Result<std::vector<Told>> read_each(Selection& selection) {
  if (const Result<void> chosen = selection.choose_newest_if_empty(); !chosen) {
    return Failure(chosen.error());
  }
  const Result<std::vector<JobReport>> jobs = list_jobs(selection, true);
  if (!jobs) {
    return Failure(jobs.error());
  }
  if (jobs->empty()) {
    return fail(ErrorCode::NotFound, "there is no such job");
  }
  std::vector<Told> all;
  for (const JobReport& job : *jobs) {
    const Result<std::string> text = ask_daemon("GET", fmt::format("/v1/jobs/{}", job.id.value));
    Result<JobReport> whole = as_message(text, parse_job_report);
    if (!whole) {
      return Failure(whole.error());
    }
    all.push_back({*text, std::move(*whole)});
  }
  return all;
}

/// Of a job that does not wait.
std::string state_in_words(const JobReport& job) {
  const std::string state = state_of(job);
  if (state == "paused") {
    return "it is paused (berth resume lets it go on)";
  }
  if (state == "running" || state == "starting") {
    return "it is " + state;
  }
  return fmt::format("it has ended: {}{}", state, job.reason.empty() ? "" : ", " + job.reason);
}

}  // namespace

int show_main(Words words) {
  Selection selection;
  bool json = false;
  Args args("berth show [JOBS…] [--json]",
            "Shows all that is known of jobs: your newest one, or those named.");
  selection.declare(args, 0);
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
  const Result<std::vector<Told>> jobs = read_each(selection);
  if (!jobs) {
    return report("berth show", jobs.error());
  }
  bool first = true;
  for (const auto& [text, job] : *jobs) {
    if (json) {
      fmt::print("{}\n", text);
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
  bool json = false;
  Args args("berth why [JOBS…] [--json]",
            "Says why jobs have not started, and when they are expected to: your newest job, or\n"
            "those named.");
  selection.declare(args, 0);
  args.flag("--json", json, "print JSON, a document for each job");
  args.example("berth why 12");
  args.example("berth why state=queued project=vision");
  const Result<bool> parsed = args.parse(words);
  if (!parsed) {
    return report("berth why", parsed.error());
  }
  if (!*parsed) {
    return 0;
  }
  const Result<std::vector<Told>> jobs = read_each(selection);
  if (!jobs) {
    return report("berth why", jobs.error());
  }
  for (const auto& [text, job] : *jobs) {
    if (json) {
      fmt::print("{}\n", text);  // its field `why`
      continue;
    }
    std::string why = job.why;
    if (why.empty()) {
      why = state_in_words(job);
    } else if (const std::string start = expected_start_of(job); !start.empty()) {
      why += "; expected to start " + start;
    }
    if (const std::string promise = promise_of(job); !promise.empty()) {
      why += "; " + promise;
    }
    if (const std::string memory = unknown_memory_of(job); !memory.empty()) {
      why += "; " + memory;
    }
    const std::string of = jobs->size() == 1 ? "" : fmt::format("job {}: ", job.id.value);
    fmt::print("{}\n", wrap_words(of + why, describe_terminal(STDOUT_FILENO).columns));
  }
  return 0;
}

}  // namespace berth
