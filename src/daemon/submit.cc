// Taking jobs in.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <limits>

#include "core/recipe.h"
#include "daemon/daemon.h"
#include "daemon/output_path.h"
#include "daemon/replies.h"

namespace berth {
namespace {

/// What is larger is taken in piece by piece.
constexpr std::size_t kJobsAtOnce = 100;
constexpr std::uint64_t kMembersAtOnce = 500;

bool is_small(const SubmitRequest& wanted) {
  std::uint64_t members = 0;
  for (const SubmittedJob& job : wanted.jobs) {
    members += job.count;
  }
  return wanted.jobs.size() <= kJobsAtOnce && members <= kMembersAtOnce;
}

}  // namespace

Error Daemon::jobs_of_others() {
  return {ErrorCode::Refused, "this daemon can run jobs of its own user only"};
}

void Daemon::take_in(SubmitRequest wanted, const Peer& peer, Reply reply) {
  const uid_t user = user_of(peer);
  if (user != ::getuid() && ::getuid() != 0) {
    return answer(std::move(reply), failed(jobs_of_others()));
  }
  if (!wanted.token.empty()) {
    const auto before = store_->find_token(user, wanted.token);
    if (!before) {
      return answer(std::move(reply), failed(before.error()));
    }
    if (*before) {
      return answer(std::move(reply),
                    json(to_json(SubmitReply{(*before)->first, (*before)->count})));
    }
    if (join_intake(user, wanted.token, reply)) {
      return;
    }
  }
  if (wanted.environment_from) {
    if (const Result<void> settled = settle_environment(wanted, peer); !settled) {
      return answer(std::move(reply), failed(settled.error()));
    }
  }
  if (is_small(wanted)) {
    return answer(std::move(reply), take_in_now(wanted, user));
  }
  begin_intake(std::move(wanted), user, std::move(reply));
}

HttpResponse Daemon::take_in_now(SubmitRequest& wanted, uid_t user) {
  // All or nothing: every job is looked at before the first is taken.
  const auto environment = Store::share_environment(wanted.defaults.environment);
  for (std::size_t i = 0; i < wanted.jobs.size(); ++i) {
    Result<void> checked = Store::check(wanted.jobs[i].description, environment);
    checked = checked ? check_job(wanted.jobs[i], user) : checked;
    if (!checked) {
      return failed(wrong_job(wanted, i, checked.error()));
    }
  }
  const JobId first = store_->next_id();
  if (const Result<void> counted = count_in(wanted, user, first); !counted) {
    return failed(counted.error());
  }
  const Time at = now();
  JobId id = first;
  std::vector<JobId> starts;  // the first number of each of the submission's jobs
  for (std::size_t i = 0; i < wanted.jobs.size(); ++i) {
    SubmittedJob& job = wanted.jobs[i];
    follow_earlier(wanted.jobs, i, starts);
    JobDescription& description = job.description;
    description.user = user;
    const JobSpec spec = description.spec;
    const Recipe recipe = recipe_of(description.project, description.command);
    check(store_->insert(id, job.count, std::move(description), environment, at));
    const Result<JobId> taken = driver_->scheduler().tell(Submit{spec, id, job.count}, at);
    if (!taken) {
      check(Failure(taken.error()));  // it was checked before
    }
    driver_->memory().jobs_wait(id, job.count, recipe);
    starts.push_back(id);
    id.value += job.count;
  }
  const auto count = static_cast<std::uint32_t>(id.value - first.value);
  if (!wanted.token.empty()) {
    check(store_->remember_token(user, wanted.token, Submission{first, count}));
  }
  events_->jobs_submitted(first, count);
  return json(to_json(SubmitReply{first, count}));
}

/// Counts a submission towards what its user may have in the queue; an error where that is too
/// much.
Result<void> Daemon::count_in(const SubmitRequest& wanted, uid_t user, JobId first) {
  std::uint64_t total = 0;
  std::uint64_t bytes = 0;
  for (const SubmittedJob& job : wanted.jobs) {
    total += job.count;
    bytes += job.count * text_bytes(job.description);
  }
  // An environment is kept once, so its jobs share its weight.
  std::uint64_t environment_bytes = 0;
  for (const std::string& variable : wanted.defaults.environment) {
    environment_bytes += variable.size();
  }
  if (Result<void> fits = fair_use_.check_queue(user, total, bytes + environment_bytes); !fits) {
    return fits;
  }
  for (const SubmittedJob& job : wanted.jobs) {
    fair_use_.joined(first, job.count, user,
                     text_bytes(job.description) + environment_bytes / total);
    first.value += job.count;
  }
  return {};
}

Error Daemon::wrong_job(const SubmitRequest& wanted, std::size_t position, const Error& error) {
  return wanted.jobs.size() == 1
             ? error
             : Error{error.code, fmt::format("job {}: {}", position + 1, error.message)};
}

/// Jobs that it follows, told by their place in the submission, get the numbers that they have now.
void Daemon::follow_earlier(std::vector<SubmittedJob>& jobs, std::size_t position,
                            const std::vector<JobId>& starts) {
  std::vector<Dependency>& after = jobs[position].description.spec.after;
  for (const LocalDependency& follows : jobs[position].follows) {
    const std::uint32_t members = jobs[follows.position].count;
    for (std::uint32_t i = 0; i < members; ++i) {
      after.push_back({JobId{starts[follows.position].value + i}, follows.when});
    }
  }
}

Result<void> Daemon::check_warning(const JobSpec& spec) {
  if (spec.warn_before == Duration{}) {
    return {};
  }
  if (spec.limit == kForever) {
    return fail(ErrorCode::Usage, "a warning needs a time limit (--timeout)");
  }
  if (spec.warn_before >= spec.limit) {
    return fail(ErrorCode::Usage,
                "the warning must come later than the start: it is as long before the time limit "
                "as the limit is long");
  }
  return {};
}

Result<void> Daemon::check_job(SubmittedJob& job, uid_t user) {
  JobDescription& description = job.description;
  JobSpec& spec = description.spec;
  spec.owner = owners_.of(description.project, user);
  if (description.directory.empty() || description.directory[0] != '/') {
    return fail(ErrorCode::Usage, "directory must be an absolute path");
  }
  for (const std::string* pattern : {&description.output, &description.error}) {
    // With its widest numbers: what begins below the limit stays there.
    const JobId widest{std::numeric_limits<std::uint64_t>::max()};
    const std::size_t most =
        std::max({pattern->size(), description.name.size(), description.project.size()});
    if (!pattern->empty() &&
        (most >= PATH_MAX || output_path(*pattern, widest, description).size() >= PATH_MAX)) {
      return fail(ErrorCode::Usage,
                  fmt::format("its output needs a path of less than {} bytes", PATH_MAX));
    }
  }
  if (Result<void> checked = fair_use_.check_rank(spec, user); !checked) {
    return checked;
  }
  if (Result<void> checked = check_warning(spec); !checked) {
    return checked;
  }
  if (Result<void> settled = settle_dependencies(spec); !settled) {
    return settled;
  }
  if (Result<void> settled = driver_->mps().settle(spec.needs, user); !settled) {
    return settled;
  }
  const Recipe recipe = recipe_of(description.project, description.command);
  if (spec.expected == kForever) {
    spec.expected = history_.expected(recipe.key);
  }
  driver_->memory().claim(spec.needs, recipe);
  return scheduler().check_submission(spec);
}

/// The scheduler knows only jobs that have not ended; the others are asked for here.
Result<void> Daemon::settle_dependencies(JobSpec& spec) const {
  std::vector<Dependency> open;
  for (const Dependency& after : spec.after) {
    if (scheduler().find(after.job) != nullptr) {
      open.push_back(after);
      continue;
    }
    const Result<JobPhase> other = store_->phase(after.job);
    if (!other) {
      return Failure(other.error());
    }
    if (!satisfied(after.when, outcome_of(*other))) {
      return fail(ErrorCode::Refused, fmt::format("it could never start: job {} has already {}",
                                                  after.job.value, phase_name(*other)));
    }
  }
  spec.after = std::move(open);
  return {};
}

}  // namespace berth
