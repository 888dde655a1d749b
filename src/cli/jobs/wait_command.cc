// `berth wait`: waits until jobs have ended, and says how they are doing meanwhile.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>

#include "api/json_writer.h"
#include "api/messages/command.h"
#include "api/messages/ids.h"
#include "cli/commands.h"
#include "cli/toolkit/args.h"
#include "cli/toolkit/daemon_client.h"
#include "cli/toolkit/selection.h"
#include "cli/toolkit/table.h"
#include "cli/toolkit/terminal.h"

namespace berth {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kWaitTimedOut = 124;
constexpr std::size_t kMostNamed = 10;
constexpr std::string_view kNotWell = "state=failed,oom,timed_out,lost,cancelled";

struct WaitCommand {
  Selection selection;
  Duration timeout = kForever;
  bool quiet = false;
  bool json = false;
};

/// The numbers of the chosen jobs that are in one of these states.
Result<IdsReply> ask_ids(const Selection& jobs, std::string_view states) {
  return as_message(
      ask_daemon("GET", fmt::format("/v1/jobs/ids?all=1&{}&select={}", jobs.query(), states)),
      parse_ids_reply);
}

/// "jobs 3, 7 and 9 more".
std::string name_jobs(const IdsReply& jobs) {
  std::vector<std::uint64_t> numbers;
  for (const JobId job : jobs.first(kMostNamed)) {
    numbers.push_back(job.value);
  }
  return fmt::format(
      "{} {}{}", jobs.count == 1 ? "job" : "jobs", fmt::join(numbers, ", "),
      jobs.count > numbers.size() ? fmt::format(" and {} more", jobs.count - numbers.size()) : "");
}

/// Shows how far the jobs are, on one line of a terminal.
class WaitProgress {
 public:
  WaitProgress(const Selection& jobs, std::uint64_t count)
      : jobs_(jobs), count_(count), terminal_(describe_terminal(STDERR_FILENO)) {}
  ~WaitProgress() {
    if (shown_) {
      std::fputs("\r\x1b[K", stderr);
    }
  }
  WaitProgress(const WaitProgress&) = delete;
  WaitProgress& operator=(const WaitProgress&) = delete;

  void show() {
    const Result<IdsReply> left = ask_ids(jobs_, "state=live");
    const Result<IdsReply> bad = ask_ids(jobs_, kNotWell);
    if (!left || !bad) {
      return;
    }
    const std::string line =
        fmt::format("{} of {} jobs have ended{}", count_ - std::min(count_, left->count), count_,
                    bad->count > 0 ? ", not well: " + name_jobs(*bad) : "");
    fmt::print(stderr, "\r\x1b[K{}", truncate_to_width(line, terminal_.columns - 1));
    std::fflush(stderr);
    shown_ = true;
  }

 private:
  const Selection& jobs_;
  std::uint64_t count_;
  Terminal terminal_;
  bool shown_ = false;
};

/// The jobs to wait for, by number: what comes later does not count.
Result<Selection> settle_jobs(const WaitCommand& command, std::uint64_t& count) {
  const Result<IdsReply> found = as_message(
      ask_daemon("GET", fmt::format("/v1/jobs/ids?all={}&{}", command.selection.empty() ? 0 : 1,
                                    command.selection.query())),
      parse_ids_reply);
  if (!found) {
    return Failure(found.error());
  }
  count = found->count;
  Selection jobs;
  for (const JobId job : found->first(0)) {
    jobs.add(std::to_string(job.value));
  }
  return jobs;
}

/// Waits at most this long; absent when some have not ended by then.
Result<std::optional<WaitReply>> wait_for(const Selection& jobs, Duration at_most) {
  const auto begun = Clock::now();
  const Result<WaitReply> reply =
      as_message(ask_daemon("GET", "/v1/wait?" + jobs.query(), "", at_most), parse_wait_reply);
  if (!reply && at_most != kForever && Clock::now() - begun >= at_most) {
    return std::optional<WaitReply>();
  }
  return reply ? Result<std::optional<WaitReply>>(*reply) : Failure(reply.error());
}

int tell_end(const WaitCommand& command, const Selection& jobs, const WaitReply& reply) {
  // Without words, everything was waited for, and how it ended is not the question.
  const bool asked = !command.selection.empty();
  const Result<IdsReply> bad =
      reply.failed > 0 && asked ? ask_ids(jobs, kNotWell) : Result<IdsReply>(IdsReply{});
  if (command.json) {
    JsonWriter json;
    json.object([&] {
      json.field("version", 1);
      json.field("failed", reply.failed);
      json.array("jobs", [&] {
        for (const JobId job : bad ? bad->first(0) : std::vector<JobId>{}) {
          json.value(job.value);
        }
      });
    });
    fmt::print("{}\n", json.take());
  } else if (bad && bad->count > 0 && !command.quiet) {
    fmt::print(stderr, "berth wait: did not succeed: {}\n", name_jobs(*bad));
  }
  return reply.failed > 0 ? 1 : 0;
}

Result<int> wait(const WaitCommand& command) {
  const auto end =
      command.timeout == kForever ? Clock::time_point::max() : Clock::now() + command.timeout;
  const bool shows =
      !command.quiet && !command.json && describe_terminal(STDERR_FILENO).interactive;
  std::uint64_t count = 0;
  Result<Selection> jobs = shows ? settle_jobs(command, count) : command.selection;
  if (!jobs) {
    return Failure(jobs.error());
  }
  if (shows && count == 0 && command.selection.empty()) {
    return 0;  // there is nothing to wait for
  }
  if (shows && count == 0) {
    jobs = command.selection;  // the daemon says what is wrong
  }
  WaitProgress progress(*jobs, count);
  for (;;) {
    constexpr Duration kBetweenLooks = std::chrono::seconds(1);
    const Duration left = end == Clock::time_point::max()
                              ? kForever
                              : std::max(Duration{}, Duration(end - Clock::now()));
    if (shows) {
      progress.show();
    }
    const Result<std::optional<WaitReply>> reply =
        wait_for(*jobs, shows ? std::min(left, kBetweenLooks) : left);
    if (!reply) {
      return Failure(reply.error());
    }
    if (*reply) {
      return tell_end(command, *jobs, **reply);
    }
    if (Clock::now() >= end) {
      fmt::print(stderr, "berth wait: not all have ended after {}\n",
                 format_duration(command.timeout));
      return kWaitTimedOut;
    }
  }
}

}  // namespace

int wait_main(Words words) {
  WaitCommand command;
  Args args("berth wait [JOBS…] [options]",
            "Waits until these jobs, or all there are, have ended. Ends with 1 when one of those\n"
            "named has not succeeded, and says which.");
  command.selection.declare(args, 0);
  args.value("--timeout", "TIME", "wait no longer than this, and end with 124", command.timeout);
  args.flag("-q,--quiet", command.quiet, "print no progress and no failures");
  args.flag("--json", command.json, "print JSON: how many failed, and which");
  args.example("berth wait");
  args.example("berth wait @ && berth submit ./evaluate.sh");
  args.example("berth wait sweep=lr-search --timeout 1h");
  const Result<bool> parsed = args.parse(words);
  if (!parsed) {
    return report("berth wait", parsed.error());
  }
  if (!*parsed) {
    return 0;
  }
  const Result<int> code = wait(command);
  return code ? *code : report("berth wait", code.error());
}

}  // namespace berth
