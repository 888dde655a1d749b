// Environments for jobs of clients that have none of their own to give, such as the page.
#include <fmt/format.h>
#include <pwd.h>
#include <unistd.h>

#include <algorithm>

#include "api/job_bounds.h"
#include "daemon/daemon.h"

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

}  // namespace

std::string home_of(uid_t user) {
  const passwd* entry = ::getpwuid(user);
  return entry == nullptr || entry->pw_dir[0] != '/' ? "/" : entry->pw_dir;
}

/// The daemon's own (for another user a plain one), or that of a job; what the submission says goes
/// over it.
Result<void> Daemon::settle_environment(SubmitRequest& submission, const Peer& peer) {
  const uid_t user = user_of(peer);
  std::vector<std::string> base;
  if (submission.environment_from->value == 0 && user != ::getuid()) {
    base = plain_environment(user);
  } else if (submission.environment_from->value == 0) {
    for (char** entry = environ; *entry != nullptr; ++entry) {
      base.emplace_back(*entry);
    }
  } else {
    Result<JobRecord> job = store_->job(*submission.environment_from);
    if (!job) {
      return Failure(job.error());
    }
    if (!may_change(peer, job->description.user)) {
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
