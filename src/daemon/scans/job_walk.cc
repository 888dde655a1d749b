#include "daemon/scans/job_walk.h"

#include <chrono>
#include <utility>

namespace berth {
namespace {

constexpr std::uint64_t kFirstWidth = 500;

IdRange all_of(const JobQuery& query, const Store& store) {
  IdRange all{JobId{1}, JobId{store.jobs().next_id().value - 1}};
  if (query.after && query.descending) {
    all.last = std::min(all.last, JobId{query.after->id.value - 1});
  } else if (query.after) {
    all.first = JobId{query.after->id.value + 1};
  }
  if (!query.filter.ids.empty() && query.filter.or_named.empty()) {
    // Numbers far apart, or beyond all that there are, are not looked for one by one.
    JobId first = query.filter.ids.front().first;
    JobId last = query.filter.ids.front().last;
    for (const IdRange& range : query.filter.ids) {
      first = std::min(first, range.first);
      last = std::max(last, range.last);
    }
    all.first = std::max(all.first, first);
    all.last = std::min(all.last, last);
  }
  return all;
}

}  // namespace

JobWalk::JobWalk(JobQuery query, const Store& store)
    : query_(std::move(query)), window_(all_of(query_, store), query_.descending, kFirstWidth) {
  query_.after.reset();
}

Result<std::vector<JobRecord>> JobWalk::next(Store& store, std::size_t most) {
  if (over()) {
    return std::vector<JobRecord>();
  }
  const auto begun = std::chrono::steady_clock::now();
  query_.numbers = window_.next();
  query_.patience = window_.patience();
  query_.limit = most;
  Result<JobPage> page = store.jobs().list(query_);
  if (!page && page.error().code == ErrorCode::Timeout) {
    window_.narrow();
    return std::vector<JobRecord>();
  }
  if (!page) {
    return Failure(page.error());
  }
  if (page->next) {
    window_.looked_until(page->next->id);
  } else {
    window_.looked(std::chrono::steady_clock::now() - begun);
  }
  return std::move(page->jobs);
}

}  // namespace berth
