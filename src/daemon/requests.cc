// What clients ask of the daemon.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "daemon/daemon.h"

namespace berth {
namespace {

HttpResponse failed(const Error& error) {
  return {http_status(error.code), "application/json", error_json(error), {}};
}

HttpResponse not_found(std::string_view what) {
  return failed({ErrorCode::NotFound, fmt::format("there is no {}", what)});
}

double seconds(Time time) { return time == kNever ? 0 : to_seconds(time.time_since_epoch()); }

Result<std::uint64_t> parse_id(std::string_view text) {
  const Result<std::int64_t> number = parse_integer(text, "a job number");
  if (!number) {
    return Failure(number.error());
  }
  if (*number < 1) {
    return fail(ErrorCode::Usage, fmt::format("job numbers start at 1, not {}", *number));
  }
  return static_cast<std::uint64_t>(*number);
}

/// "3,7-9".
Result<std::vector<IdRange>> parse_ids(std::string_view text) {
  std::vector<IdRange> ranges;
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    const std::string_view word = text.substr(0, comma);
    text.remove_prefix(std::min(comma + 1, text.size()));
    const std::size_t dash = word.find('-');
    const Result<std::uint64_t> first = parse_id(word.substr(0, dash));
    const Result<std::uint64_t> last = dash == word.npos ? first : parse_id(word.substr(dash + 1));
    if (!first || !last) {
      return Failure(first ? last.error() : first.error());
    }
    ranges.push_back({JobId{*first}, JobId{*last}});
  }
  return ranges;
}

}  // namespace

std::string Daemon::expand_path(const std::string& pattern, const JobRecord& job) {
  std::string path;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] != '%' || i + 1 == pattern.size()) {
      path += pattern[i];
      continue;
    }
    switch (pattern[++i]) {
      case 'j':
        path += std::to_string(job.id.value);
        break;
      case 'n':
        path += job.description.name;
        break;
      case 'p':
        path += job.description.project;
        break;
      case 'a':
        path += std::to_string(job.description.array_index.value_or(0));
        break;
      default:
        path += pattern[i];
    }
  }
  return path.empty() || path[0] == '/' ? path : job.description.directory + "/" + path;
}

void Daemon::answer(Reply reply, HttpResponse response) {
  // Shared, because a std::function must be copyable.
  after_commit([held = std::make_shared<Reply>(std::move(reply)), response = std::move(response)] {
    (*held)->respond(response);
  });
}

void Daemon::handle(HttpRequest request, Reply reply) {
  const std::string& path = request.path;
  const bool get = request.method == "GET";
  const bool post = request.method == "POST";
  constexpr std::string_view kJobs = "/v1/jobs/";
  if (path == "/v1/jobs" && post) {
    answer(std::move(reply), submit(request));
  } else if (path == "/v1/jobs" && get) {
    answer(std::move(reply), list(request));
  } else if (path == "/v1/status" && get) {
    answer(std::move(reply), status());
  } else if (path == "/v1/wait" && get) {
    wait(request, std::move(reply));
  } else if (path.starts_with(kJobs) && post) {
    answer(std::move(reply), command(request, std::string_view(path).substr(kJobs.size())));
  } else if (path.starts_with(kJobs) && get) {
    const Result<std::uint64_t> id = parse_id(std::string_view(path).substr(kJobs.size()));
    answer(std::move(reply), id ? show(JobId{*id}) : failed(id.error()));
  } else if (path == "/v1/daemon/pause" && post) {
    scheduler_->apply(Pause{});
    answer(std::move(reply), status());
  } else if (path == "/v1/daemon/resume" && post) {
    scheduler_->apply(Resume{});
    answer(std::move(reply), status());
  } else if (path == "/v1/daemon/stop" && post) {
    answer(std::move(reply), status());
    after_commit([this] { loop_.stop(); });
  } else {
    answer(std::move(reply), not_found(path));
  }
}

HttpResponse Daemon::submit(const HttpRequest& request) {
  Result<SubmitRequest> wanted = parse_submit_request(request.body);
  if (!wanted) {
    return failed(wanted.error());
  }
  const uid_t user = request.peer.uid;
  if (!wanted->token.empty()) {
    const auto before = store_->find_token(user, wanted->token);
    if (!before) {
      return failed(before.error());
    }
    if (*before) {
      return {
          200, "application/json", to_json(SubmitReply{(*before)->first, (*before)->count}), {}};
    }
  }
  for (JobDescription& job : wanted->jobs) {
    if (Result<void> settled = settle_dependencies(job.spec); !settled) {
      return failed(settled.error());
    }
    if (const Result<void> checked = scheduler_->check_submission(job.spec); !checked) {
      return failed(checked.error());
    }
  }
  const Time at = now();
  const JobId first = store_->next_id();
  JobId id = first;
  for (JobDescription& job : wanted->jobs) {
    const JobSpec spec = job.spec;
    job.user = user;
    job.environment = wanted->defaults.environment;
    check(store_->insert(id, 1, std::move(job), at));
    if (const Result<JobId> submitted = scheduler_->apply(Submit{spec, id}, at); !submitted) {
      return failed(submitted.error());
    }
    ++id.value;
  }
  const auto count = static_cast<std::uint32_t>(wanted->jobs.size());
  if (!wanted->token.empty()) {
    check(store_->remember_token(user, wanted->token, Submission{first, count}));
  }
  return {200, "application/json", to_json(SubmitReply{first, count}), {}};
}

/// The scheduler knows only jobs that have not ended; the others are asked for here.
Result<void> Daemon::settle_dependencies(JobSpec& spec) {
  std::vector<Dependency> open;
  for (const Dependency& after : spec.after) {
    if (scheduler_->find(after.job) != nullptr) {
      open.push_back(after);
      continue;
    }
    const Result<JobRecord> other = store_->job(after.job);
    if (!other) {
      return Failure(other.error());
    }
    if (!satisfied(after.when, outcome_of(other->phase))) {
      return fail(ErrorCode::Refused, fmt::format("it could never start: job {} has already {}",
                                                  after.job.value, phase_name(other->phase)));
    }
  }
  spec.after = std::move(open);
  return {};
}

JobReport Daemon::report(const JobRecord& record) {
  JobReport report;
  report.id = record.id;
  report.description = record.description;
  report.state = phase_name(record.phase);
  report.attempt = record.attempt;
  report.submitted = seconds(record.submitted);
  report.started = seconds(record.started);
  if (record.ending) {
    report.ended = seconds(record.ending->ended);
    if (record.ending->signal != 0) {
      report.signal = record.ending->signal;
    } else if (record.started != kNever && record.phase != JobPhase::Lost) {
      report.exit_code = record.ending->exit_code;
    }
    report.reason = record.ending->message;
  }
  if (record.attempt > 0) {
    if (const auto attempts = store_->attempts(record.id); attempts && !attempts->empty()) {
      report.gpus = attempts->back().devices;
      report.pid = attempts->back().pid;
      report.log = attempts->back().stdout_path;
    }
  }
  return report;
}

HttpResponse Daemon::list(const HttpRequest& request) {
  constexpr std::int64_t kMostOnAPage = 1000;
  JobQuery query;
  if (request.parameter("all").value_or("0") != "1") {
    query.filter.phases = {JobPhase::Held, JobPhase::Queued, JobPhase::Starting, JobPhase::Running};
  }
  const Result<std::int64_t> after =
      parse_integer(request.parameter("after").value_or("0"), "after");
  const Result<std::int64_t> limit =
      parse_integer(request.parameter("limit").value_or("100"), "limit");
  const Result<std::vector<IdRange>> ids = parse_ids(request.parameter("ids").value_or(""));
  if (!after || !limit || !ids) {
    return failed(!after ? after.error() : !limit ? limit.error() : ids.error());
  }
  query.filter.ids = *ids;
  if (*after > 0) {
    query.after = JobCursor{JobId{static_cast<std::uint64_t>(*after)}, {}};
  }
  query.limit = static_cast<std::size_t>(std::clamp<std::int64_t>(*limit, 1, kMostOnAPage));
  const Result<JobPage> page = store_->list(query);
  if (!page) {
    return failed(page.error());
  }
  std::vector<JobReport> reports;
  for (const JobRecord& record : page->jobs) {
    reports.push_back(report(record));
  }
  return {200,
          "application/json",
          to_json(reports, page->next ? std::optional(page->next->id) : std::nullopt),
          {}};
}

HttpResponse Daemon::show(JobId id) {
  const Result<JobRecord> record = store_->job(id);
  if (!record) {
    return failed(record.error());
  }
  JobReport shown = report(*record);
  if (const Job* job = scheduler_->find(id); job != nullptr && job->waiting()) {
    shown.why = describe(scheduler_->explain(id, now()), now());
  }
  return {200, "application/json", to_json(shown), {}};
}

HttpResponse Daemon::command(const HttpRequest& request, std::string_view verb) {
  const Result<std::vector<IdRange>> ids = parse_ids(request.parameter("ids").value_or(""));
  if (!ids || ids->empty()) {
    return failed(ids ? Error{ErrorCode::Usage, "say which jobs"} : ids.error());
  }
  const Time at = now();
  std::uint64_t done = 0;
  for (const IdRange& range : *ids) {
    for (JobId id = range.first; id <= range.last; ++id.value) {
      Result<void> result;
      if (verb == "kill") {
        result = scheduler_->apply(Cancel{id}, at);
      } else if (verb == "hold") {
        result = scheduler_->apply(Hold{id}, at);
      } else if (verb == "release") {
        result = scheduler_->apply(Release{id}, at);
      } else {
        return not_found(fmt::format("command {}", verb));
      }
      if (!result && range.first == range.last) {
        // The scheduler has forgotten those that ended; the store has not.
        const Result<JobRecord> record = store_->job(id);
        return failed(
            record && !is_live(record->phase)
                ? Error{ErrorCode::Refused, fmt::format("job {} has already ended: {}", id.value,
                                                        phase_name(record->phase))}
                : result.error());
      }
      if (result && verb != "kill") {
        check(store_->set_waiting(id, verb == "hold", Time{}));
      }
      done += result ? 1 : 0;
    }
  }
  return {200, "application/json", fmt::format(R"({{"version":1,"done":{}}})", done), {}};
}

HttpResponse Daemon::status() const {
  std::string counts;
  for (std::size_t i = 0; i < kPhases; ++i) {
    counts += fmt::format(R"({}"{}":{})", counts.empty() ? "" : ",",
                          phase_name(static_cast<JobPhase>(i)), store_->counts()[i]);
  }
  return {
      200,
      "application/json",
      fmt::format(R"({{"version":1,"pid":{},"policy":"{}","paused":{},"gpus":{},"jobs":{{{}}}}})",
                  ::getpid(), scheduler_->policy().name(), scheduler_->paused(),
                  devices_->list().size(), counts),
      {}};
}

void Daemon::wait(const HttpRequest& request, Reply reply) {
  const Result<std::vector<IdRange>> ids = parse_ids(request.parameter("ids").value_or(""));
  if (!ids) {
    return answer(std::move(reply), failed(ids.error()));
  }
  Waiter waiter;
  waiter.everything = ids->empty();
  for (const IdRange& range : *ids) {
    for (JobId id = range.first; id <= range.last; ++id.value) {
      if (scheduler_->find(id) != nullptr) {
        waiter.jobs.insert(id);
        continue;
      }
      const Result<JobRecord> record = store_->job(id);
      if (!record) {
        return answer(std::move(reply), failed(record.error()));
      }
      waiter.failed += record->phase == JobPhase::Succeeded ? 0 : 1;
    }
  }
  waiter.reply = std::move(reply);
  waiters_.push_back(std::move(waiter));
  after_commit([this] { settle_waiters(JobId{}, false); });
}

/// Answers those who have nothing left to wait for. `ended`: none when 0.
void Daemon::settle_waiters(JobId ended, bool failed_job) {
  for (Waiter& waiter : waiters_) {
    if (waiter.jobs.erase(ended) > 0) {
      waiter.failed += failed_job ? 1 : 0;
    }
    const bool idle = scheduler_->waiting() + scheduler_->running() == 0;
    if (waiter.jobs.empty() && (!waiter.everything || idle)) {
      waiter.reply->respond({200,
                             "application/json",
                             fmt::format(R"({{"version":1,"failed":{}}})", waiter.failed),
                             {}});
      waiter.reply.reset();
    }
  }
  std::erase_if(waiters_, [](const Waiter& waiter) { return waiter.reply == nullptr; });
}

}  // namespace berth
