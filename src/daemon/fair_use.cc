#include "daemon/fair_use.h"

#include <fmt/format.h>

#include <algorithm>

namespace berth {

Result<void> FairUse::check_rank(const JobSpec& wanted, uid_t user, const JobSpec& before) const {
  if (!bounds(user)) {
    return {};
  }
  if (wanted.priority < std::min(0, before.priority)) {
    return fail(ErrorCode::Refused,
                fmt::format("only the daemon's own user and root may go first by a priority below "
                            "0, not {}: say 0 or more",
                            wanted.priority));
  }
  if (wanted.weight > std::max<std::uint16_t>(1, before.weight)) {
    return fail(ErrorCode::Refused, fmt::format("only the daemon's own user and root may have a "
                                                "weight above 1, not {}: say 1",
                                                wanted.weight));
  }
  return {};
}

Result<void> FairUse::check_queue(uid_t user, std::uint64_t jobs, std::uint64_t bytes) const {
  if (!bounds(user)) {
    return {};
  }
  const Use now = used(user);
  if (now.jobs + jobs > limits_.jobs) {
    return fail(ErrorCode::Refused,
                fmt::format("you would have {} jobs that have not ended, and a user may have {} "
                            "here: wait for some to end",
                            now.jobs + jobs, limits_.jobs));
  }
  const auto most = static_cast<std::uint64_t>(limits_.bytes.count);
  if (bytes > most || now.bytes > most - bytes) {
    return fail(ErrorCode::Refused,
                fmt::format("your jobs that have not ended would take {} bytes, and a user may "
                            "have {} here: wait for some to end, or shorten their commands",
                            now.bytes + bytes, most));
  }
  return {};
}

void FairUse::joined(JobId first, std::uint64_t count, uid_t user, std::uint64_t bytes_each) {
  if (!bounds(user)) {
    return;
  }
  for (std::uint64_t i = 0; i < count; ++i) {
    jobs_.insert_or_assign(first.value + i, Counted{user, bytes_each});
  }
  Use& use = users_[user];
  use.jobs += count;
  use.bytes += count * bytes_each;
}

void FairUse::left(JobId job) {
  const auto found = jobs_.find(job.value);
  if (found == jobs_.end()) {
    return;
  }
  const auto user = users_.find(found->second.user);
  --user->second.jobs;
  user->second.bytes -= found->second.bytes;
  if (user->second.jobs == 0) {
    users_.erase(user);
  }
  jobs_.erase(found);
}

FairUse::Use FairUse::used(uid_t user) const {
  const auto found = users_.find(user);
  return found == users_.end() ? Use{} : found->second;
}

std::vector<uid_t> FairUse::users() const {
  std::vector<uid_t> found;
  for (const auto& [user, use] : users_) {
    found.push_back(user);
  }
  return found;
}

std::uint64_t text_bytes(const JobDescription& job) {
  std::size_t length = 200 + job.name.size() + job.project.size() + job.command.size() +
                       job.directory.size() + job.output.size() + job.error.size() +
                       job.sweep.size() + 16 * job.spec.after.size();
  for (const auto* pairs : {&job.labels, &job.parameters}) {
    for (const auto& [key, value] : *pairs) {
      length += key.size() + value.size();
    }
  }
  return length;
}

}  // namespace berth
