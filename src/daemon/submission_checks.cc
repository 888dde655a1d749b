#include "daemon/submission_checks.h"

#include <fmt/format.h>
#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <limits>
#include <utility>

#include "core/job_bounds.h"
#include "core/recipe.h"
#include "daemon/output_path.h"
#include "gpu/job_environment.h"

namespace berth {
namespace {

/// What a user finds after logging in, as far as berth can know it.
std::vector<std::string> plain_environment(uid_t user) {
  const passwd* entry = ::getpwuid(user);
  const std::string name = entry == nullptr ? std::to_string(user) : entry->pw_name;
  return {fmt::format("HOME={}", entry == nullptr ? "/" : entry->pw_dir), "USER=" + name,
          "LOGNAME=" + name,
          fmt::format("SHELL={}", entry == nullptr ? "/bin/sh" : entry->pw_shell),
          "PATH=/usr/local/bin:/usr/bin:/bin"};
}

std::string_view name_of(std::string_view variable) {
  return variable.substr(0, variable.find('='));
}

/// The scheduler knows only jobs that have not ended; the others are asked for here.
Result<void> settle_dependencies(Desk& desk, JobSpec& spec) {
  std::vector<Dependency> open;
  for (const Dependency& after : spec.after) {
    if (desk.scheduler().find(after.job) != nullptr) {
      open.push_back(after);
      continue;
    }
    const Result<JobPhase> other = desk.store.jobs().phase(after.job);
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

/// With its widest numbers: an output path that begins below the limit stays there.
Result<void> check_output(const JobDescription& description) {
  for (const std::string* pattern : {&description.output, &description.error}) {
    const JobId widest{std::numeric_limits<std::uint64_t>::max()};
    const std::size_t most =
        std::max({pattern->size(), description.name.size(), description.project.size()});
    if (!pattern->empty() &&
        (most >= PATH_MAX || output_path(*pattern, widest, description).size() >= PATH_MAX)) {
      return fail(ErrorCode::Usage,
                  fmt::format("its output needs a path of less than {} bytes", PATH_MAX));
    }
  }
  return {};
}

}  // namespace

Result<void> check_warning(const JobSpec& spec) {
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

Result<void> check_cluster(const Desk& desk, const JobSpec& spec, uid_t user) {
  if (!spec.needs.away() && spec.needs.spill.empty()) {
    return {};
  }
  if (user != ::getuid()) {
    return fail(ErrorCode::Refused,
                "this daemon sends jobs of its own user only to a cluster: start a daemon of your "
                "own (berth daemon start)");
  }
  return desk.check_cluster ? desk.check_cluster(spec)
                            : fail(ErrorCode::NotFound, "there is no cluster");
}

Result<void> check_job(Desk& desk, SubmittedJob& job, uid_t user) {
  JobDescription& description = job.description;
  JobSpec& spec = description.spec;
  spec.owner = desk.owners.of(description.project, user);
  if (description.directory.empty() || description.directory[0] != '/') {
    return fail(ErrorCode::Usage, "directory must be an absolute path");
  }
  if (Result<void> checked = check_output(description); !checked) {
    return checked;
  }
  if (Result<void> checked = desk.fair_use.check_rank(spec, user); !checked) {
    return checked;
  }
  if (Result<void> checked = check_warning(spec); !checked) {
    return checked;
  }
  if (Result<void> settled = settle_dependencies(desk, spec); !settled) {
    return settled;
  }
  if (Result<void> settled = desk.driver.mps().settle(spec.needs, user); !settled) {
    return settled;
  }
  if (Result<void> checked = check_cluster(desk, spec, user); !checked) {
    return checked;
  }
  const Recipe recipe = recipe_of(description.project, description.command);
  desk.driver.memory().claim(spec.needs, recipe);
  Result<void> checked = desk.scheduler().check_submission(spec);
  if (!checked && !spec.needs.spill.empty()) {
    // Nothing here could ever run it.
    spec.needs.target = std::exchange(spec.needs.spill, "");
    checked = desk.scheduler().check_submission(spec);
  }
  if (!checked && spec.needs.gpus > 0 && desk.driver.devices().states().empty()) {
    return fail(checked.error().code,
                fmt::format("{}. Submit it with --gpus 0 to run it without one, or try berth with "
                            "simulated GPUs: berth daemon stop; berth daemon start --gpus sim:4",
                            checked.error().message));
  }
  return checked;
}

Result<void> check_outputs(const Desk& desk, SubmittedJob& job, uid_t user) {
  job.description.user = user;
  return desk.outputs.check(job.description, job.count);
}

Result<void> count_in(Desk& desk, const SubmitRequest& wanted, uid_t user, JobId first) {
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
  if (Result<void> fits = desk.fair_use.check_queue(user, total, bytes + environment_bytes);
      !fits) {
    return fits;
  }
  for (const SubmittedJob& job : wanted.jobs) {
    desk.fair_use.joined(first, job.count, user,
                         text_bytes(job.description) + environment_bytes / total);
    first.value += job.count;
  }
  return {};
}

std::string device_order_note(const Desk& desk, const SubmitRequest& wanted) {
  constexpr std::string_view kOrder = "CUDA_DEVICE_ORDER=";
  const std::vector<std::string>& own = wanted.defaults.environment;
  const auto order = std::find_if(own.begin(), own.end(), [&](const std::string& variable) {
    return variable.starts_with(kOrder);
  });
  const bool on_gpus = std::any_of(wanted.jobs.begin(), wanted.jobs.end(), [](const auto& job) {
    return job.description.spec.needs.gpus > 0;
  });
  if (order == own.end() || !on_gpus) {
    return "";
  }
  std::vector<DeviceInfo> devices;
  for (std::uint32_t i = 0; i < desk.driver.devices().states().size(); ++i) {
    devices.push_back(desk.driver.devices().info(DeviceId{i}));
  }
  const std::string value = order->substr(kOrder.size());
  EnvironmentChanges changes = {{"CUDA_DEVICE_ORDER", "PCI_BUS_ID"}};
  return keep_device_order(changes, value, devices) ? "" : other_device_order(value);
}

Error wrong_job(const SubmitRequest& wanted, std::size_t position, const Error& error) {
  return wanted.jobs.size() == 1
             ? error
             : Error{error.code, fmt::format("job {}: {}", position + 1, error.message)};
}

void follow_earlier(std::vector<SubmittedJob>& jobs, std::size_t position,
                    const std::vector<JobId>& starts) {
  std::vector<Dependency>& after = jobs[position].description.spec.after;
  for (const LocalDependency& follows : jobs[position].follows) {
    const std::uint32_t members = jobs[follows.position].count;
    for (std::uint32_t i = 0; i < members; ++i) {
      after.push_back({JobId{starts[follows.position].value + i}, follows.when});
    }
  }
}

std::string home_of(uid_t user) {
  const passwd* entry = ::getpwuid(user);
  return entry == nullptr || entry->pw_dir[0] != '/' ? "/" : entry->pw_dir;
}

Result<void> settle_environment(Desk& desk, SubmitRequest& submission, const Peer& peer) {
  const uid_t user = peer.uid;
  std::vector<std::string> base;
  if (submission.environment_from->value == 0 && user != ::getuid()) {
    base = plain_environment(user);
  } else if (submission.environment_from->value == 0) {
    for (char** entry = environ; *entry != nullptr; ++entry) {
      base.emplace_back(*entry);
    }
  } else {
    Result<JobRecord> job = desk.store.jobs().record(*submission.environment_from);
    if (!job) {
      return Failure(job.error());
    }
    if (!Desk::may_change(peer, job->description.user)) {
      return fail(ErrorCode::Refused, fmt::format("job {} is another user's", job->id.value));
    }
    base = std::move(job->description.environment);
  }
  std::vector<std::string>& own = submission.defaults.environment;
  std::erase_if(base, [&](const std::string& variable) {
    return std::any_of(own.begin(), own.end(),
                       [&](const std::string& over) { return name_of(over) == name_of(variable); });
  });
  own.insert(own.begin(), std::make_move_iterator(base.begin()),
             std::make_move_iterator(base.end()));
  for (SubmittedJob& job : submission.jobs) {
    std::string& directory = job.description.directory;
    directory = directory.empty() ? home_of(user) : directory;
  }
  return check_bounds(
      submission.defaults);  // together they may be more than a program can be given
}

}  // namespace berth
