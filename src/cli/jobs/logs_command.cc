// `berth logs`: what jobs have written.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <mutex>
#include <thread>

#include "cli/commands.h"
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

Result<void> print_one(const LogWish& wish) {
  return read_log(wish, [](std::string_view text) {
    std::fwrite(text.data(), 1, text.size(), stdout);
    std::fflush(stdout);
  });
}

/// A thread for each, because each waits for its own job.
int print_many(const std::vector<LogWish>& wishes) {
  std::mutex mutex;
  std::vector<Error> errors;
  const auto print = [&](const LogWish& wish) {
    LinePrinter printer(mutex, fmt::format("{}| ", wish.job));
    const Result<void> read = read_log(wish, [&](std::string_view text) { printer.print(text); });
    if (!read && read.error().code != ErrorCode::NotFound) {
      const std::lock_guard lock(mutex);
      errors.push_back(read.error());
    }
  };
  if (!wishes.front().follow) {
    std::for_each(wishes.begin(), wishes.end(), print);
  } else {
    std::vector<std::thread> threads;
    for (const LogWish& wish : wishes) {
      threads.emplace_back(print, wish);
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
  LogWish wish;
  Args args("berth logs JOBS… [options]",
            "Prints what jobs have written. The lines of several have the jobs' numbers in front.");
  selection.declare(args, 1);
  args.flag("-f,--follow", wish.follow, "go on as they write, until they have ended");
  args.value("-n,--lines", "N", "only the last N lines of what is there", count_into(wish.tail));
  args.value("--attempt", "N", "of this attempt (default: the newest)", count_into(wish.attempt));
  args.flag("--stderr", wish.errors, "what went to the error output, where that is apart");
  args.example("berth logs 12");
  args.example("berth logs -f -n 20 sweep=lr-search state=running");
  const Result<bool> parsed = args.parse(words);
  if (!parsed) {
    return report("berth logs", parsed.error());
  }
  if (!*parsed) {
    return 0;
  }
  wish.onward = wish.attempt == 0;
  bool more = false;
  const Result<std::vector<JobReport>> jobs = list_jobs(selection, true, 0, more);
  if (!jobs) {
    return report("berth logs", jobs.error());
  }
  std::vector<LogWish> wishes;
  for (const JobReport& job : *jobs) {
    wish.job = job.id.value;
    wishes.push_back(wish);
  }
  if (wishes.empty()) {
    return report("berth logs", Error{ErrorCode::NotFound, "there is no such job"});
  }
  if (wish.follow && wishes.size() > kMostLogs) {
    return report("berth logs",
                  Error{ErrorCode::Usage,
                        fmt::format("{} jobs are too many to follow at once: choose at most {}",
                                    wishes.size(), kMostLogs)});
  }
  if (wishes.size() > 1) {
    return print_many(wishes);
  }
  const Result<void> printed = print_one(wishes[0]);
  return printed ? 0 : report("berth logs", printed.error());
}

}  // namespace berth
