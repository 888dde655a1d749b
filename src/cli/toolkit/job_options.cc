#include "cli/toolkit/job_options.h"

#include <fmt/format.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <filesystem>
#include <limits>

#include "base/bounds.h"
#include "base/signals.h"
#include "cli/toolkit/after_option.h"
#include "cli/toolkit/clock.h"
#include "cli/toolkit/line_flags.h"
#include "cli/toolkit/words.h"

namespace berth {
namespace {

/// A text that is not empty: what a variable that is not set leaves of `--after $JOB` must not mean
/// "after nothing".
Args::Setter filled(std::string& out) {
  return [&out](std::string_view text) -> Result<void> {
    if (text.empty()) {
      return fail(ErrorCode::Usage, "its value is empty; omit the option if that is meant");
    }
    out = text;
    return {};
  };
}

/// `--only 0,1` and its like.
Args::Setter names_into(std::vector<std::string>& names) {
  return [&names](std::string_view text) -> Result<void> {
    if (text.empty() || text.ends_with(',')) {
      return fail(ErrorCode::Usage, "a name is missing");
    }
    for (const std::string_view name : split(text, ',')) {
      if (name.empty()) {
        return fail(ErrorCode::Usage, "a name is missing");
      }
      names.emplace_back(name);
    }
    return {};
  };
}

/// "USR1@60": the signal, and how long before the time limit.
Result<void> read_warning(const std::string& text, JobDescription& job) {
  const std::size_t at = text.find('@');
  if (at == text.npos) {
    return fail(ErrorCode::Usage, "--signal is SIGNAL@TIME, such as USR1@60");
  }
  const Result<int> signal = parse_signal(text.substr(0, at));
  if (!signal) {
    return Failure(signal.error());
  }
  const std::string time = text.substr(at + 1);
  const bool plain = time.find_first_not_of("0123456789") == time.npos;
  const Result<Duration> before = parse_duration(plain ? time + "s" : time);
  if (!before) {
    return Failure(before.error());
  }
  job.warning_signal = *signal;
  job.spec.warn_before = *before;
  return {};
}

Result<void> read_causes(const std::string& text, RetryRule& retry) {
  retry.on_failure = false;
  retry.on_time_limit = false;
  for (const std::string_view cause : split(text, ',')) {
    if (cause == "fail" || cause == "failed") {
      retry.on_failure = true;
    } else if (cause == "timeout" || cause == "timed_out") {
      retry.on_time_limit = true;
    } else if (cause == "lost") {
      retry.when_lost = true;
    } else {
      return fail(ErrorCode::Usage,
                  fmt::format("--retry-on knows fail, timeout and lost, not '{}'", cause));
    }
  }
  return {};
}

}  // namespace

Result<Time> parse_begin(std::string_view text) {
  const std::string word(text);
  if (word.starts_with('@')) {
    const Result<std::int64_t> seconds = parse_integer(text.substr(1), "--begin");
    return seconds ? Result<Time>(Time(std::chrono::seconds(*seconds))) : Failure(seconds.error());
  }
  const Time now = wall_clock();
  const std::time_t today = now.time_since_epoch() / std::chrono::seconds(1);
  std::tm when{};
  ::localtime_r(&today, &when);
  when.tm_sec = 0;
  const char* rest = ::strptime(word.c_str(), "%H:%M", &when);
  if (rest != nullptr && *rest == '\0') {
    std::time_t chosen = ::mktime(&when);
    if (chosen <= today) {
      ++when.tm_mday;  // tomorrow, also where that is 23 or 25 hours away
      when.tm_isdst = -1;
      chosen = ::mktime(&when);
    }
    return Time(std::chrono::seconds(chosen));
  }
  for (const char* format : {"%Y-%m-%dT%H:%M:%S", "%Y-%m-%dT%H:%M", "%Y-%m-%d %H:%M", "%Y-%m-%d"}) {
    when = {};
    when.tm_isdst = -1;
    rest = ::strptime(word.c_str(), format, &when);
    if (rest != nullptr && *rest == '\0') {
      return Time(std::chrono::seconds(::mktime(&when)));
    }
  }
  const Result<Duration> from_now = parse_duration(text);
  if (!from_now) {
    return fail(
        ErrorCode::Usage,
        fmt::format("--begin takes 2h, 18:30, 2026-11-16T08:00 or @SECONDS, not '{}'", text));
  }
  return now + *from_now;
}

void declare_target(Args& args, Needs& needs) {
  args.value("--on", "TARGET",
             "where it runs: local (the default), a cluster's name, slurm (the usual one),\n"
             "or auto: here if it starts soon, else on the cluster",
             [&needs](std::string_view text) -> Result<void> {
               if (text.empty()) {
                 return fail(ErrorCode::Usage, "its value is empty; omit the option for local");
               }
               needs.target = text == "local" || text == "auto" ? "" : text;
               needs.spill = text == "auto" ? "slurm" : "";
               return {};
             });
  for (const char* name : {"partition", "account", "qos"}) {
    args.value(fmt::format("--{}", name), "NAME", fmt::format("its {} on the cluster", name),
               [&needs, name](std::string_view text) -> Result<void> {
                 needs.target_options.push_back(fmt::format("--{}={}", name, text));
                 return {};
               });
  }
  args.value("--slurm-option", "OPTION",
             "another option for sbatch, such as --mem=8G; may be given again",
             [&needs](std::string_view text) -> Result<void> {
               needs.target_options.emplace_back(text);
               return {};
             });
}

void JobOptions::declare(Args& args) {
  JobSpec& spec = job_.spec;
  declare_target(args, spec.needs);
  add_line_flag(args, line_, "gpus", "-g,--gpus", "N",
                "GPUs that the job needs (default: 1; 0: none)");
  add_claim_flags(args, line_, spec.needs.profile);
  add_line_flag(args, line_, "share", "--share", "PERCENT",
                "share of each GPU's compute that it claims");
  mps_.declare(args);
  args.value("--model", "TEXT", "only on GPUs whose model has this in its name",
             filled(spec.needs.model));
  args.value("--only", "GPUS", "only on these", names_into(spec.needs.only));
  args.value("--exclude", "GPUS", "not on these", names_into(spec.needs.exclude));
  args.value("--prefer", "GPUS", "on these where possible", names_into(spec.needs.prefer));
  args.value("--name", "NAME", "a name for the job", job_.name);
  args.value("--project", "NAME", "a project to put it into", job_.project);
  args.value("--label", "KEY=VALUE", "a label, to find it by; may be given again",
             [this](std::string_view text) -> Result<void> {
               const std::size_t equals = text.find('=');
               if (equals == text.npos || equals == 0) {
                 return fail(ErrorCode::Usage, "--label is KEY=VALUE");
               }
               job_.labels[std::string(text.substr(0, equals))] = text.substr(equals + 1);
               return {};
             });
  add_line_flag(args, line_, "priority", "-p,--priority", "N", "lower runs first (default: 0)");
  add_weight_flag(args, line_);
  add_line_flag(args, line_, "timeout", "--timeout", "TIME",
                "the longest it may run: 90s, 2h30m, 1d (0: no limit)");
  args.value("--signal", "SIG@TIME", "a warning this long before the time limit, e.g. USR1@60",
             filled(signal_));
  args.value("--expected", "TIME", "how long it is expected to run", spec.expected);
  args.value("--begin", "WHEN", "not before: 2h (from now), 18:30, 2026-11-16T08:00",
             filled(begin_));
  args.value("--after", "JOBS",
             "start after others: ok:12,any:prep,notok:@~1 (numbers, names, submissions)",
             filled(after_));
  add_line_flag(args, line_, "retries", "--retries", "N",
                "run it again when it fails, up to N times");
  args.value("--retry-on", "CAUSES", "what is tried again: fail, timeout (default: both), lost",
             filled(retry_on_));
  args.value("--backoff", "TIME", "wait before a retry; doubled each time", spec.retry.backoff);
  args.flag("--requeue", spec.retry.when_lost, "run it again when the machine went down under it");
  args.value("--array", "N", "queue it N times, or for indices FIRST-LAST: $BERTH_ARRAY_INDEX",
             filled(array_));
  args.flag("--hold", spec.held, "queue it, but do not start it before berth release");
  args.value("-o,--output", "PATH",
             "where its output goes; %j is its number, %n its name, %p its\n"
             "project, %a its array index",
             filled(job_.output));
  args.value("-e,--error", "PATH", "where its errors go (default: with the output)",
             filled(job_.error));
}

Result<JobDescription> JobOptions::description() const {
  JobDescription job = job_;
  JobSpec& spec = job.spec;
  spec.expected = spec.expected == Duration{} ? kForever : spec.expected;
  line_.apply(spec);
  if (const Result<void> applied = mps_.apply(spec.needs); !applied) {
    return Failure(applied.error());
  }
  if (!begin_.empty()) {
    const Result<Time> begin = parse_begin(begin_);
    if (!begin) {
      return Failure(begin.error());
    }
    spec.begin = *begin;
  }
  if (!after_.empty()) {
    Result<std::vector<Dependency>> after = read_after(after_);
    if (!after) {
      return Failure(after.error());
    }
    spec.after = std::move(*after);
  }
  if (!signal_.empty()) {
    if (const Result<void> read = read_warning(signal_, job); !read) {
      return Failure(read.error());
    }
  }
  if (!retry_on_.empty()) {
    if (const Result<void> read = read_causes(retry_on_, spec.retry); !read) {
      return Failure(read.error());
    }
  }
  std::error_code error;
  job.directory = std::filesystem::current_path(error).string();
  if (error) {
    return fail(ErrorCode::Io, "cannot tell which directory this is: " + error.message());
  }
  for (char** entry = environ; *entry != nullptr; ++entry) {
    job.environment.emplace_back(*entry);
  }
  return job;
}

Result<void> JobOptions::apply_array(SubmittedJob& job) const {
  if (array_.empty()) {
    return {};
  }
  const std::size_t dash = array_.find('-');
  const Result<std::int64_t> first = dash == array_.npos
                                         ? Result<std::int64_t>(0)
                                         : parse_integer(array_.substr(0, dash), "--array");
  const Result<std::int64_t> last =
      parse_integer(dash == array_.npos ? array_ : array_.substr(dash + 1), "--array");
  if (!first || !last) {
    return Failure(first ? last.error() : first.error());
  }
  const std::int64_t count = dash == array_.npos ? *last : *last - *first + 1;
  if (*first < 0 || count < 1 || count > kMostInArray ||
      *last > std::numeric_limits<std::int32_t>::max()) {
    return fail(
        ErrorCode::Usage,
        fmt::format("--array is N, or FIRST-LAST from 0 on, for at most {} jobs", kMostInArray));
  }
  job.count = static_cast<std::uint32_t>(count);
  job.description.array_index = static_cast<std::uint32_t>(*first);
  return {};
}

}  // namespace berth
