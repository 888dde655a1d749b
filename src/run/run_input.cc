// How jobs come into a run: from lines to submissions.
#include <fmt/format.h>

#include <algorithm>
#include <thread>

#include "base/paths.h"
#include "base/random.h"
#include "run/run.h"

namespace berth {
namespace {

/// How many wrong lines of a file are named before the rest is only counted.
constexpr std::size_t kErrorsShown = 10;

}  // namespace

Result<void> Run::prepare() {
  DriverOptions options;
  options.policy = options_.policy;
  options.config.grace = options_.grace;
  options.config.placement = options_.placement;
  options.config.limits.buffer = options_.buffer;
  options.config.enforce_claims = options_.enforce_claims;
  options.config.limits.cpu_slots = std::max(1U, std::thread::hardware_concurrency());
  options.mark = runner_.token();
  options.sample_interval = options_.sample_interval;
  // Only one policy asks for it, and drivers take a while to answer.
  options.measure_power = options_.policy.starts_with("energy");
  options.claims_at_once = std::numeric_limits<std::size_t>::max();
  // Of devices that are taken on trust nobody will know what jobs use.
  const std::vector<DeviceInfo>& list = devices_.list();
  if (std::any_of(list.begin(), list.end(),
                  [](const DeviceInfo& device) { return device.spec.memory > Bytes{}; })) {
    options.peaks = options_.peaks;
  }
  // The mark lets control daemons be ended with the jobs if this process is killed.
  const Result<Paths> paths = find_paths();
  options.mps = {"run " + (paths ? paths->state : ""), "BERTH_RUN=" + runner_.token()};
  Result<std::unique_ptr<Driver>> driver = Driver::make(std::move(options), devices_, *this);
  if (!driver) {
    return Failure(driver.error());
  }
  driver_ = std::move(*driver);
  jobs_.emplace(options_, *driver_);
  account_.begin(now());
  Needs needs = options_.defaults.needs;
  return driver_->mps().settle(needs, ::geteuid());
}

Result<void> Run::rehearse(Input input,
                           const std::function<void(const JobLine&, const Needs&)>& visit) {
  if (const Result<void> ready = prepare(); !ready) {
    return ready;
  }
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
      if (const Job* job = driver_->view().find(jobs_->last()); job != nullptr) {
        visit(**item, driver_->view().needs(*job));
      }
    }
    if (!*more) {
      return {};
    }
  }
}

Result<void> Run::open_input(Input input) {
  // What cannot be waited on, /dev/null for instance, never keeps anyone waiting.
  const bool live = !input.complete() && !options_.shuffle &&
                    poller_.add(input.fd(), [this] { read_some_input(); });
  if (!live) {
    return read_everything(input);
  }
  input_ = std::move(input);
  return {};
}

/// All jobs at once. The first wrong line means that none is run.
Result<void> Run::read_everything(Input& input) {
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

void Run::read_some_input() {
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
    close_input();
  }
}

void Run::close_input() {
  if (input_) {
    poller_.remove(input_->fd());
    input_.reset();
  }
}

Result<void> Run::submit(JobLine line) {
  const Time at = now();
  const Result<RunJobs::Taken> taken = jobs_->add(std::move(line), at);
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
      job.id = jobs_->last();
      ended(job, {Outcome::Cancelled, EndReason::Dependency, 0, 0, kNever, at}, nullptr, at);
    }
  }
  return {};
}

}  // namespace berth
