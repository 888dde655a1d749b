// How jobs come into a run: from lines to submissions.
#include <fmt/format.h>
#include <signal.h>
#include <sys/signalfd.h>

#include <algorithm>
#include <thread>

#include "base/random.h"
#include "gpu/expected_power.h"
#include "policy/policies.h"
#include "run/run.h"

namespace berth {
namespace {

/// How many wrong lines of a file are named before the rest is only counted.
constexpr std::size_t kErrorsShown = 10;

}  // namespace

Result<void> Run::prepare() {
  auto policy = make_live_policy(options_.policy);
  if (!policy) {
    return Failure(policy.error());
  }
  Scheduler::Config config;
  config.grace = options_.grace;
  config.placement = options_.placement;
  config.limits.buffer = options_.buffer;
  config.enforce_claims = options_.enforce_claims;
  config.limits.cpu_slots = std::max(1U, std::thread::hardware_concurrency());
  scheduler_ = std::make_unique<Scheduler>(std::move(*policy), config);
  // Only one policy asks for it, and drivers take a while to answer.
  const bool budgeted = options_.policy.starts_with("energy");
  const auto power = budgeted ? expected_power(devices_) : std::map<std::string, DevicePower>{};
  for (const DeviceInfo& device : devices_.list()) {
    DeviceSpec spec = device.spec;
    if (const auto expected = power.find(spec.name); expected != power.end()) {
      spec.power = expected->second;
    }
    scheduler_->add_device(std::move(spec));
  }
  // Of devices that are taken on trust nobody will know what jobs use.
  const std::vector<DeviceInfo>& list = devices_.list();
  const bool measured = std::any_of(list.begin(), list.end(), [](const DeviceInfo& device) {
    return device.spec.memory > Bytes{};
  });
  if (measured && !options_.peaks.empty()) {
    peaks_ = std::make_unique<PeakFile>(
        options_.peaks, [this](const Recipe& recipe, Bytes peak) { learner_.learn(recipe, peak); });
  }
  outcomes_.resize(1);
  begun_ = now();
  if (options_.defaults.needs.mps != 0) {
    return open_mps();
  }
  return {};
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
    while (const auto item = input.reader().next()) {
      if (!*item) {
        return fail(ErrorCode::Usage,
                    fmt::format("line {} {}", item->error().line, item->error().message));
      }
      if (const Result<void> done = submit(**item); !done) {
        return done;
      }
      const Job* job = scheduler_->find(JobId{last_id_});
      if (job != nullptr) {
        visit(**item, scheduler_->needs(*job));
      }
    }
    if (!*more) {
      return {};
    }
  }
}

Result<RunSummary> Run::execute(Input input) {
  if (const Result<void> ready = prepare(); !ready) {
    return Failure(ready.error());
  }
  if (options_.joblog) {
    Result<Joblog> log = Joblog::open(*options_.joblog, options_.resume != RunOptions::Resume::No);
    if (!log) {
      return Failure(log.error());
    }
    joblog_ = std::move(*log);
  }
  if (const Result<void> ready = outputs_.prepare(); !ready) {
    return Failure(ready.error());
  }
  // What cannot be waited on, /dev/null for instance, never keeps anyone waiting.
  const bool live =
      !input.complete() && !options_.shuffle && poller_.add(input.fd(), [this] { read_input(); });
  if (live) {
    input_ = std::move(input);
  } else if (const Result<void> read = read_everything(input); !read) {
    return Failure(read.error());
  }
  sigset_t mask;
  ::sigemptyset(&mask);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    ::sigaddset(&mask, signal);
  }
  if (options_.drain_signal != 0) {
    ::sigaddset(&mask, options_.drain_signal);
  }
  ::pthread_sigmask(SIG_BLOCK, &mask, nullptr);
  signals_ = Fd(::signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK));
  poller_.add(signals_.get(), [this] { take_signals(); });
  poller_.add(runner_.event_fd(), [this] { take_exits(); });
  if (locks_ != nullptr) {
    poller_.add(locks_->event_fd(), [this] { take_freed(); });
  }
  if (options_.closed_devices) {
    poller_.add(options_.closed_devices_fd, [this] { take_closed(); });
    take_closed();
  }
  const std::vector<DeviceInfo>& list = devices_.list();
  if (std::any_of(list.begin(), list.end(), [](const DeviceInfo& device) {
        return device.family != DeviceFamily::Trusted;
      })) {
    telemetry_ = std::make_unique<Telemetry>(devices_, runner_.token(), options_.sample_interval);
    poller_.add(telemetry_->event_fd(), [this] { take_samples(); });
    take_samples();
  }
  begun_ = now();
  loop();
  telemetry_.reset();
  if (mps_ != nullptr) {
    mps_->finish();
    take_mps_events();  // what they had still to tell
  }
  RunSummary summary = summarize(now());
  observer_.finished(summary);
  return summary;
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
    while (auto item = input.reader().next()) {
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

/// `never` is set when a job that it follows has ended the wrong way already.
Result<void> Run::add_dependencies(JobSpec& spec, const JobLine& line, bool& never) const {
  for (const AfterName& after : line.options.after) {
    JobId other{};
    if (const auto named = names_.find(after.job); named != names_.end()) {
      other = named->second;
    } else if (const auto number = parse_integer(after.job, "the job");
               number && *number > 0 && static_cast<std::uint64_t>(*number) <= last_id_) {
      other = JobId{static_cast<std::uint64_t>(*number)};
    } else {
      return fail(ErrorCode::Usage,
                  fmt::format("line {}: @after={}: no job before it has that name or number",
                              line.line, after.job));
    }
    if (scheduler_->find(other) != nullptr) {
      spec.after.push_back({other, after.when});
    } else {
      never = never || !satisfied(after.when, outcomes_[other.value]);
    }
  }
  return {};
}

Result<JobSpec> Run::specify(const JobLine& line, bool& never) {
  JobSpec spec = options_.defaults;
  const LineOptions& options = line.options;
  spec.needs.gpus = options.gpus.value_or(spec.needs.gpus);
  if (options.claim) {
    spec.needs.set(*options.claim);
  }
  spec.needs.share = options.share.value_or(spec.needs.share);
  set_mps(spec.needs, options);
  spec.owner = owners_.of(options.project.value_or(""), 0);
  spec.priority = options.priority.value_or(spec.priority);
  spec.weight = options.weight.value_or(spec.weight);
  spec.limit = options.timeout.value_or(spec.limit);
  spec.retry.most = options.retries.value_or(spec.retry.most);
  if (spec.needs.gpus == 0) {
    spec.needs.memory = Bytes{};
    spec.needs.share = 0;
  }
  if (spec.needs.mps != 0) {
    if (const Result<void> opened = open_mps(); !opened) {
      return Failure(opened.error());
    }
  }
  if (const Result<void> added = add_dependencies(spec, line, never); !added) {
    return Failure(added.error());
  }
  return spec;
}

/// Whether the joblog says that this job need not run again.
bool Run::done_before(JobId id, const JobLine& line, Result<void>& problem) const {
  if (!joblog_) {
    return false;
  }
  const auto past = joblog_->past().find(id);
  if (past == joblog_->past().end()) {
    return false;
  }
  if (past->second.command != joblog_command(line.command)) {
    problem =
        fail(ErrorCode::Usage,
             fmt::format("job {} is not the one in the joblog {}: there it is `{}`, here `{}`",
                         id.value, *options_.joblog, past->second.command, line.command));
    return false;
  }
  return options_.resume == RunOptions::Resume::Unfinished || past->second.succeeded();
}

Run::Record Run::make_record(JobLine line) {
  Record record{std::move(line.command), nullptr};
  record.command.shrink_to_fit();
  if (line.options.name || line.options.project) {
    record.labels = std::make_unique<Labels>(
        Labels{line.options.name.value_or(""), line.options.project.value_or("")});
  }
  return record;
}

Result<void> Run::submit(JobLine line) {
  const JobId id{last_id_ + 1};
  Result<void> problem;
  if (done_before(id, line, problem)) {
    ++last_id_;
    ++summary_.counts.skipped;
    outcomes_.push_back(joblog_->past().at(id).succeeded() ? Outcome::Succeeded : Outcome::Failed);
    if (line.options.name) {
      names_[*line.options.name] = id;
    }
    return {};
  }
  if (!problem) {
    return problem;
  }
  bool never = false;
  Result<JobSpec> spec = specify(line, never);
  if (!spec) {
    return Failure(spec.error());
  }
  std::optional<Recipe> recipe;
  if (peaks_ != nullptr) {
    recipe = options_.recipe(line.options.project.value_or(""), line.command);
    learner_.claim(spec->needs, *recipe, scheduler_->devices());
  }
  const Time at = now();
  if (never) {
    // Its number and its account are those that it would have had, had it come in time.
    ++last_id_;
    outcomes_.push_back(Outcome::Cancelled);
    if (line.options.name) {
      names_[*line.options.name] = id;
    }
    end_without_start(id, make_record(line),
                      {Outcome::Cancelled, EndReason::Dependency, 0, 0, kNever, at});
    return {};
  }
  const Result<JobId> submitted = scheduler_->apply(Submit{std::move(*spec), id}, at);
  if (!submitted) {
    return fail(submitted.error().code,
                fmt::format("line {}: {}", line.line, submitted.error().message));
  }
  ++last_id_;
  outcomes_.push_back(Outcome::Lost);
  if (line.options.name) {
    names_[*line.options.name] = id;
  }
  records_.insert(id, make_record(std::move(line)));
  if (recipe) {
    learner_.job_waits(id, *recipe, *scheduler_);
  }
  return {};
}

}  // namespace berth
