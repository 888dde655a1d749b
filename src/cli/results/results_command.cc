// `berth results`: the jobs of a sweep with their parameters, and what they have found.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "api/messages/error.h"
#include "api/messages/log.h"
#include "cli/commands.h"
#include "cli/results/log_metric.h"
#include "cli/results/result_rows.h"
#include "cli/toolkit/args.h"
#include "cli/toolkit/daemon_client.h"
#include "cli/toolkit/selection.h"
#include "cli/toolkit/terminal.h"

namespace berth {
namespace {

constexpr std::int64_t kLogBytes = 256 << 10;  // of the end of each log
constexpr std::size_t kMostLogs = 10'000;

struct ResultsCommand {
  Selection selection;
  std::vector<LogMetric> metrics;
  std::string sort;
  bool csv = false;
  bool json = false;
};

Args results_args(ResultsCommand& command) {
  Args args("berth results [JOBS…] [options]",
            "Prints a row for each job: its parameters, how it ended, how long it took, its peak\n"
            "of GPU memory, and figures from its log. Without JOBS: your last submission.");
  command.selection.declare(args, 0);
  args.value("--metric", "REGEX",
             "also the last match in each job's log (in its last 256 KiB): the\n"
             "first group or, without a group, the word after the match; may be\n"
             "given several times",
             [&command](std::string_view text) -> Result<void> {
               Result<LogMetric> metric = LogMetric::parse(text);
               if (!metric) {
                 return Failure(metric.error());
               }
               command.metrics.push_back(std::move(*metric));
               return {};
             });
  args.value("--sort", "KEY",
             "by id, name, state, time, peak, exit, a parameter or a metric;\n"
             "-KEY for the highest first",
             command.sort);
  args.flag("--csv", command.csv, "print CSV");
  args.flag("--json", command.json, "print JSON");
  args.example("berth results sweep=lr-search --metric val_acc --sort -val_acc");
  args.example("berth results sweep=lr-search --metric 'loss=([0-9.]+)' --csv > results.csv");
  return args;
}

Result<std::pair<LogReply, std::string>> ask_log(HttpClient& daemon, const std::string& target) {
  Result<HttpReply> reply = daemon.send("GET", target, "");
  if (!reply) {
    return Failure(reply.error());
  }
  if (reply->status >= 400) {
    return Failure(parse_error(reply->body, reply->status));
  }
  const Result<LogReply> log = parse_log_reply(*reply);
  if (!log) {
    return Failure(log.error());
  }
  return std::pair(*log, std::move(reply->body));
}

/// The end of what the newest attempt has written; empty if none has begun.
Result<std::string> end_of_log(HttpClient& daemon, JobId job) {
  const std::string path = fmt::format("/v1/jobs/{}/log", job.value);
  const auto end = ask_log(daemon, path + "?tail=0");
  if (!end) {
    return Failure(end.error());
  }
  const LogReply& place = end->first;
  std::string text;
  std::int64_t at = std::max<std::int64_t>(place.offset - kLogBytes, 0);
  while (place.attempt != 0 && at < place.offset) {
    auto piece = ask_log(daemon, fmt::format("{}?attempt={}&offset={}", path, place.attempt, at));
    if (!piece) {
      return Failure(piece.error());
    }
    if (piece->second.empty()) {
      break;  // the file has become shorter
    }
    text += piece->second;
    at = piece->first.offset;
  }
  return text;
}

/// A log that cannot be read has no figures; how many there are is told.
Result<std::size_t> add_metrics(Results& results, const std::vector<LogMetric>& metrics) {
  if (results.rows.size() > kMostLogs) {
    return fail(ErrorCode::Usage, fmt::format("{} logs are too many to read: choose at most {} "
                                              "jobs, or omit --metric",
                                              results.rows.size(), kMostLogs));
  }
  for (const LogMetric& metric : metrics) {
    results.metrics.push_back(metric.pattern());
  }
  Result<HttpClient> daemon = connect_daemon();
  if (!daemon) {
    return Failure(daemon.error());
  }
  std::size_t unread = 0;
  for (ResultRow& row : results.rows) {
    const Result<std::string> log = end_of_log(*daemon, row.job.id);
    if (!log && log.error().code == ErrorCode::Unavailable) {
      return Failure(log.error());
    }
    unread += log ? 0 : 1;
    for (const LogMetric& metric : metrics) {
      row.metrics.push_back(log ? metric.last_in(*log).value_or("") : "");
    }
  }
  return unread;
}

Result<void> show_results(ResultsCommand& command) {
  if (command.csv && command.json) {
    return fail(ErrorCode::Usage, "use --csv or --json, not both");
  }
  if (command.selection.empty()) {
    command.selection.add("@");
  }
  Result<std::vector<JobReport>> jobs = list_jobs(command.selection, true);
  if (!jobs) {
    return Failure(jobs.error());
  }
  Results results;
  for (JobReport& job : *jobs) {
    results.rows.push_back({std::move(job), {}});
  }
  std::size_t unread = 0;
  if (!command.metrics.empty()) {
    const Result<std::size_t> added = add_metrics(results, command.metrics);
    if (!added) {
      return Failure(added.error());
    }
    unread = *added;
  }
  if (!command.sort.empty()) {
    if (Result<void> sorted = sort_results(results, command.sort); !sorted) {
      return sorted;
    }
  }
  const std::string text = command.json  ? results_json(results)
                           : command.csv ? results_csv(results)
                           : results.rows.empty()
                               ? ""
                               : results_table(results, describe_terminal(STDOUT_FILENO));
  std::fwrite(text.data(), 1, text.size(), stdout);
  if (results.rows.empty()) {
    fmt::print(stderr, "no job matches\n");
  }
  if (unread > 0) {
    fmt::print(stderr, "berth results: {} of {} logs could not be read\n", unread,
               results.rows.size());
  }
  return {};
}

}  // namespace

int results_main(Words words) {
  ResultsCommand command;
  const Result<bool> parsed = results_args(command).parse(words);
  if (!parsed) {
    return report("berth results", parsed.error());
  }
  if (!*parsed) {
    return 0;
  }
  const Result<void> shown = show_results(command);
  return shown ? 0 : report("berth results", shown.error());
}

}  // namespace berth
