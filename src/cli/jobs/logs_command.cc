// `berth logs`: what jobs have written.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <mutex>
#include <thread>

#include "cli/commands.h"
#include "cli/jobs/logs_json.h"
#include "cli/jobs/submission.h"
#include "cli/toolkit/args.h"
#include "cli/toolkit/selection.h"

namespace berth {
namespace {

/// Several logs at once become whole lines with the job's number in front.
class LinePrinter {
 public:
  LinePrinter(std::mutex& mutex, std::string prefix) : mutex_(mutex), prefix_(std::move(prefix)) {}
  ~LinePrinter() {
    if (!part_.empty()) {
      print("\n");
    }
  }

  void print(std::string_view text) {
    part_ += text;
    const std::size_t whole = part_.rfind('\n') + 1;
    std::string lines;
    for (std::size_t at = 0; at < whole;) {
      const std::size_t end = part_.find('\n', at) + 1;
      lines += prefix_ + part_.substr(at, end - at);
      at = end;
    }
    part_.erase(0, whole);
    const std::lock_guard lock(mutex_);
    std::fwrite(lines.data(), 1, lines.size(), stdout);
    std::fflush(stdout);
  }

 private:
  std::mutex& mutex_;
  std::string prefix_;
  std::string part_;
};

Result<void> print_one(const LogRequest& request) {
  return read_log(request, [](const LogPiece& piece) {
    std::fwrite(piece.text.data(), 1, piece.text.size(), stdout);
    std::fflush(stdout);
  });
}

Result<void> print_lines(const LogRequest& request, std::mutex& mutex) {
  LinePrinter printer(mutex, fmt::format("{}| ", request.job));
  return read_log(request, [&](const LogPiece& piece) { printer.print(piece.text); });
}

/// A thread for each, because each waits for its own job.
int print_many(const std::vector<LogRequest>& requests, bool json) {
  std::mutex mutex;
  std::vector<Error> errors;
  const auto print = [&](const LogRequest& request) {
    const Result<void> read = json ? print_json_lines(request, mutex) : print_lines(request, mutex);
    if (!read && read.error().code != ErrorCode::NotFound) {
      const std::lock_guard lock(mutex);
      errors.push_back(read.error());
    }
  };
  if (!requests.front().follow) {
    std::for_each(requests.begin(), requests.end(), print);
  } else {
    std::vector<std::thread> threads;
    for (const LogRequest& request : requests) {
      threads.emplace_back(print, request);
    }
    for (std::thread& thread : threads) {
      thread.join();
    }
  }
  for (const Error& error : errors) {
    (void)report("berth logs", error);
  }
  return errors.empty() ? 0 : 1;
}

Args::Setter count_into(std::int64_t& count) {
  return [&count](std::string_view text) -> Result<void> {
    const Result<std::int64_t> number = parse_integer(text, "the value");
    if (!number || *number < 0) {
      return fail(ErrorCode::Usage, fmt::format("must be a number from 0 on, not '{}'", text));
    }
    count = *number;
    return {};
  };
}

}  // namespace

int logs_main(Words words) {
  constexpr std::size_t kMostLogs = 200;
  Selection selection;
  LogRequest request;
  bool json = false;
  Args args("berth logs [JOBS…] [options]",
            "Prints what jobs have written: your newest job, or those named. The lines of several\n"
            "jobs have the jobs' numbers in front.");
  selection.declare(args, 0);
  args.flag("-f,--follow", request.follow, "go on as they write, until they have ended");
  args.value("-n,--lines", "N", "only the last N lines of what is there", count_into(request.tail));
  args.value("--attempt", "N", "of this attempt (default: the newest)",
             count_into(request.attempt));
  args.flag("--stderr", request.errors, "what went to the error output, where that is apart");
  args.flag("--json", json,
            "print JSON: the logs as one document, or with -f an object for each line");
  args.example("berth logs 12");
  args.example("berth logs -f -n 20 sweep=lr-search state=running");
  const Result<bool> parsed = args.parse(words);
  if (!parsed) {
    return report("berth logs", parsed.error());
  }
  if (!*parsed) {
    return 0;
  }
  request.onward = request.attempt == 0;
  if (const Result<void> chosen = selection.choose_newest_if_empty(); !chosen) {
    return report("berth logs", chosen.error());
  }
  const Result<std::vector<JobReport>> jobs = list_jobs(selection, true);
  if (!jobs) {
    return report("berth logs", jobs.error());
  }
  std::vector<LogRequest> requests;
  for (const JobReport& job : *jobs) {
    request.job = job.id.value;
    requests.push_back(request);
  }
  if (requests.empty()) {
    return report("berth logs", Error{ErrorCode::NotFound, "there is no such job"});
  }
  if (request.follow && requests.size() > kMostLogs) {
    return report("berth logs",
                  Error{ErrorCode::Usage,
                        fmt::format("{} jobs are too many to follow at once: choose at most {}",
                                    requests.size(), kMostLogs)});
  }
  if (json && !request.follow) {
    const Result<void> printed = print_logs_json(requests);
    return printed ? 0 : report("berth logs", printed.error());
  }
  if (json || requests.size() > 1) {
    return print_many(requests, json);
  }
  const Result<void> printed = print_one(requests[0]);
  return printed ? 0 : report("berth logs", printed.error());
}

}  // namespace berth
