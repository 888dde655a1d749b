#include "cli/run/run_report.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>

#include "base/signals.h"
#include "base/units.h"
#include "cli/toolkit/table.h"

namespace berth {
namespace {

std::string mean(Duration total, std::uint64_t count) {
  return count == 0 ? "-" : format_duration(total / static_cast<std::int64_t>(count));
}

std::string device_table(const RunSummary& summary, const Terminal& terminal) {
  Table table;
  table.column("GPU");
  table.column("JOBS", Align::Right);
  table.column("BUSY", Align::Right);
  table.column("IN USE", Align::Right);
  table.column("UTIL", Align::Right);
  table.column("PEAK MEM", Align::Right);
  table.column("ENERGY", Align::Right);
  for (const DeviceTotals& device : summary.devices) {
    const double elapsed = to_seconds(summary.elapsed);
    table.row({device.name, std::to_string(device.jobs), format_duration(device.busy),
               elapsed > 0 ? fmt::format("{:.0f}%", 100 * to_seconds(device.busy) / elapsed) : "-",
               device.mean_utilization ? fmt::format("{:.0f}%", *device.mean_utilization) : "-",
               device.peak_memory > Bytes{} ? format_bytes(device.peak_memory) : "-",
               device.energy ? fmt::format("{:.2f} Wh", *device.energy / 3600) : "-"});
  }
  return table.render(terminal.columns, terminal.colour);
}

/// "did not succeed: jobs 3, 7 and 9 more".
std::string describe_failures(const RunSummary& summary) {
  std::vector<std::uint64_t> numbers;
  for (const JobId job : summary.failed) {
    numbers.push_back(job.value);
  }
  const std::uint64_t all = summary.counts.failed + summary.counts.timed_out;
  const std::string more =
      all > numbers.size() ? fmt::format(" and {} more", all - numbers.size()) : "";
  return fmt::format("did not succeed: {} {}{}", all == 1 ? "job" : "jobs",
                     fmt::join(numbers, ", "), more);
}

/// As after 2>&1: what goes to the two must keep its order.
bool same_file(int a, int b) {
  struct stat first {};
  struct stat second {};
  return ::fstat(a, &first) == 0 && ::fstat(b, &second) == 0 && first.st_dev == second.st_dev &&
         first.st_ino == second.st_ino;
}

}  // namespace

std::unique_ptr<RunObserver> choose_reporter(const ReportOptions& options, bool json,
                                             JobOutputs::Options& outputs) {
  if (json) {
    // Nothing but events may reach stdout.
    outputs.capture_stdout = outputs.capture_stderr = true;
    return make_json_reporter();
  }
  // Whatever the streams are, the end of a job's output tells an end by GPU memory from others.
  outputs.capture_stderr = true;
  if (describe_terminal(STDERR_FILENO).interactive) {
    outputs.capture_stdout = options.prefix || ::isatty(STDOUT_FILENO) != 0;
    return make_progress_reporter(options);
  }
  outputs.capture_stdout = options.prefix || same_file(STDOUT_FILENO, STDERR_FILENO);
  return make_plain_reporter(options);
}

std::string one_line(std::string_view command) {
  std::string line(command);
  while (!line.empty() && line.back() == '\n') {
    line.pop_back();
  }
  std::string joined;
  for (const char c : line) {
    joined += c == '\n' ? "; " : std::string(1, c);
  }
  return printable(joined);
}

std::string describe_end(const JobEndEvent& end) {
  if (end.start_error != 0) {
    return fmt::format("not started ({})", strerrordesc_np(end.start_error));
  }
  switch (end.outcome) {
    case Outcome::Succeeded:
      return "ok";
    case Outcome::TimedOut:
      return "timed out";
    case Outcome::Cancelled:
      if (end.reason == EndReason::Profile) {
        return "profiled";
      }
      return end.reason == EndReason::Dependency ? "not run (a job it follows went wrong)"
                                                 : "ended";
    case Outcome::Oom:
      return end.reason == EndReason::Memory ? "ended for using more GPU memory than it claimed"
                                             : "out of GPU memory";
    case Outcome::Lost:
      return "lost";
    case Outcome::Failed:
      break;
  }
  return end.signal != 0 ? fmt::format("killed by {}", signal_name(end.signal))
                         : fmt::format("failed (exit {})", end.exit_code);
}

std::string describe_job_end(const JobEvent& job, const JobEndEvent& end, std::size_t columns) {
  // The note of an end by memory says all of it.
  const bool by_memory = end.outcome == Outcome::Oom && end.note.starts_with("it ran out");
  std::string line = fmt::format("[{}] {}", job.id.value,
                                 by_memory ? end.note.substr(3) + "," : describe_end(end));
  if (job.attempt > 0) {
    line += " " + format_duration(end.runtime);
  }
  if (!job.gpus.empty()) {
    line += fmt::format(" gpu {}", fmt::join(job.gpus, ","));
  }
  if (end.peak_memory > Bytes{} && !by_memory) {
    line += fmt::format(" peak {}", format_bytes(end.peak_memory));
  }
  if (!end.note.empty() && !by_memory) {
    line += fmt::format(" ({})", end.note);
  }
  if (end.retried) {
    line += fmt::format(", attempt {} follows", job.attempt + 1);
  }
  line += fmt::format(": {}", one_line(job.command));
  return columns > 0 ? truncate_to_width(line, columns - 1) : line;
}

std::string describe_counts(const RunSummary& summary) {
  const RunCounts& counts = summary.counts;
  std::string line = fmt::format("{} succeeded, {} failed", counts.succeeded, counts.failed);
  if (counts.out_of_memory > 0) {
    line += fmt::format(" ({} out of memory)", counts.out_of_memory);
  }
  const auto add = [&](std::uint64_t count, std::string_view what) {
    if (count > 0) {
      line += fmt::format(", {} {}", count, what);
    }
  };
  add(counts.timed_out, "timed out");
  add(counts.cancelled, "ended early");
  line += fmt::format(", {} did not run", counts.not_run);
  add(counts.skipped, "done before");
  add(counts.invalid, "invalid");
  return line + fmt::format(" in {}", format_duration(summary.elapsed));
}

std::string describe_summary(const RunSummary& summary, const Terminal& terminal, bool table) {
  std::string text;
  const auto say = [&](const std::string& line) {
    text += wrap_words(line, terminal.columns) + "\n";
  };
  if (table && summary.started > 0) {
    text += "\n" + device_table(summary, terminal) + "\n";
    say(fmt::format(
        "waits: mean {}, longest {}; runs: mean {}, longest {}{}",
        mean(summary.total_wait, summary.started), format_duration(summary.longest_wait),
        mean(summary.total_runtime, summary.counts.ended()),
        format_duration(summary.longest_runtime),
        summary.retries > 0
            ? fmt::format("; {} {}", summary.retries, summary.retries == 1 ? "retry" : "retries")
            : ""));
  }
  if (summary.lost_output > 0) {
    say(fmt::format("{} of output could not be written to logs and are lost",
                    format_bytes(Bytes{static_cast<std::int64_t>(summary.lost_output)})));
  }
  if (table && !summary.failed.empty()) {
    say(describe_failures(summary));
  }
  say(describe_counts(summary));
  return text;
}

std::string prefix_lines(std::string_view prefix, std::string_view lines) {
  std::string text;
  while (!lines.empty()) {
    const std::size_t end = std::min(lines.find('\n'), lines.size() - 1);
    text += prefix;
    text += lines.substr(0, end + 1);
    lines.remove_prefix(end + 1);
  }
  return text;
}

}  // namespace berth
