#include "daemon/recent_submissions.h"

namespace berth {
namespace {

constexpr std::size_t kJobsLookedAt = 1000;

}  // namespace

void RecentSubmissions::add(uid_t user, IdRange jobs, bool continues) {
  std::deque<IdRange>& recent = users_[user];
  if (continues && !recent.empty() && recent.front().last.value + 1 == jobs.first.value) {
    recent.front().last = jobs.last;
    return;
  }
  recent.push_front(jobs);
  if (recent.size() > kMost) {
    recent.pop_back();
  }
}

std::optional<IdRange> RecentSubmissions::find(uid_t user, std::size_t back) const {
  const auto recent = users_.find(user);
  if (recent == users_.end() || back >= recent->second.size()) {
    return std::nullopt;
  }
  return recent->second[back];
}

Result<void> RecentSubmissions::restore(Store& store) {
  JobQuery query;
  query.descending = true;
  query.limit = kJobsLookedAt;
  const Result<JobPage> newest = store.jobs().list(query);
  if (!newest) {
    return Failure(newest.error());
  }
  Time submitted = kNever;
  // From old to new, as they came.
  for (auto job = newest->jobs.rbegin(); job != newest->jobs.rend(); ++job) {
    add(job->description.user, {job->id, job->id}, job->submitted == submitted);
    submitted = job->submitted;
  }
  return {};
}

}  // namespace berth
