#include "run/run_input.h"

#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "spec/shell_words.h"

namespace berth {
namespace {

/// How many wrong lines of a file are named before the rest is only counted.
constexpr std::size_t kErrorsShown = 10;

}  // namespace

RunInput::RunInput(const RunOptions& options, RunJobs& jobs, RunAccount& account,
                   RunObserver& observer, Poller& poller, Host& host)
    : options_(options),
      jobs_(jobs),
      account_(account),
      observer_(observer),
      poller_(poller),
      host_(host) {}

Result<void> RunInput::rehearse(Input& input, const std::function<void(const JobLine&)>& visit) {
  for (;;) {
    const Result<bool> more = input.read_some();
    if (!more) {
      return Failure(more.error());
    }
    while (const auto item = input.next()) {
      if (!*item) {
        return fail(ErrorCode::Usage,
                    fmt::format("line {} {}", item->error().line, item->error().message));
      }
      if (const Result<void> done = submit(**item); !done) {
        return done;
      }
      visit(**item);
    }
    if (!*more) {
      return {};
    }
  }
}

Result<void> RunInput::open(Input input) {
  // What cannot be waited on, /dev/null for instance, never keeps anyone waiting.
  const bool live =
      !input.complete() && !options_.shuffle && poller_.add(input.fd(), [this] { read_some(); });
  if (!live) {
    return read_everything(input);
  }
  input_ = std::move(input);
  return {};
}

/// All jobs at once. The first wrong line means that none is run.
Result<void> RunInput::read_everything(Input& input) {
  std::vector<JobLine> jobs;
  std::string problems;
  std::size_t wrong = 0;
  for (bool more = true; more;) {
    const Result<bool> read = input.read_some();
    if (!read) {
      return Failure(read.error());
    }
    more = *read;
    while (auto item = input.next()) {
      if (*item) {
        // Kept back only where their order is still open.
        if (options_.shuffle || wrong > 0) {
          jobs.push_back(std::move(**item));
        } else if (const Result<void> done = submit(std::move(**item)); !done) {
          return done;
        }
      } else if (++wrong <= kErrorsShown) {
        problems += fmt::format("\n  line {} {}", item->error().line, item->error().message);
      }
    }
  }
  if (wrong > 0) {
    return fail(ErrorCode::Usage,
                fmt::format("nothing was run, because of {} wrong line{}:{}{}", wrong,
                            wrong == 1 ? "" : "s", problems, wrong > kErrorsShown ? "\n  …" : ""));
  }
  if (options_.shuffle) {
    Random(options_.seed).shuffle(jobs);
    for (JobLine& job : jobs) {
      if (const Result<void> done = submit(std::move(job)); !done) {
        return done;
      }
    }
  }
  return {};
}

void RunInput::read_some() {
  const Result<bool> more = input_->read_some();
  if (!more) {
    observer_.warning(more.error().message);
  }
  while (auto item = input_->next()) {
    if (!*item) {
      observer_.warning(
          fmt::format("not run: line {} {}", item->error().line, item->error().message));
      ++account_.summary().counts.invalid;
    } else if (const Result<void> done = submit(std::move(**item)); !done) {
      observer_.warning("not run: " + done.error().message);
      ++account_.summary().counts.invalid;
    }
  }
  if (!more || !*more) {
    close();
  }
}

void RunInput::close() {
  if (input_) {
    poller_.remove(input_->fd());
    input_.reset();
  }
}

Result<void> RunInput::submit(JobLine line) {
  const Time at = host_.now();
  if (ends_in_background(line.command)) {
    observer_.warning(fmt::format(
        "line {}: the command ends in '&': its job ends at once, and what it leaves running is "
        "ended with it; remove the '&'",
        line.line));
  }
  const Result<RunJobs::Taken> taken = jobs_.add(std::move(line), at);
  if (!taken) {
    return Failure(taken.error());
  }
  switch (*taken) {
    case RunJobs::Taken::Queued:
      break;
    case RunJobs::Taken::Skipped:
      ++account_.summary().counts.skipped;
      break;
    case RunJobs::Taken::Never: {
      Job job;
      job.id = jobs_.last();
      host_.ended(job, {Outcome::Cancelled, EndReason::Dependency, 0, 0, kNever, at}, nullptr, at);
    }
  }
  return {};
}

}  // namespace berth
