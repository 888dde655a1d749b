#include <fmt/format.h>

#include <algorithm>

#include "base/units.h"
#include "daemon/handlers/jobs.h"
#include "daemon/job_choice.h"
#include "daemon/scans/job_walk.h"

namespace berth {
namespace {

/// How much there can be on a page, about: it becomes one text, and nobody is served meanwhile.
constexpr std::size_t kPageBytes = std::size_t{256} * 1024;
constexpr std::int64_t kMostOnAPage = 1000;
/// Jobs may be long.
constexpr std::size_t kListedAtOnce = 10;
constexpr Duration kListInOneGo = std::chrono::milliseconds(5);

/// About how long a job is as JSON.
std::size_t length_of(const JobDescription& job) {
  std::size_t length = 600 + job.command.size() + job.directory.size() + job.output.size() +
                       job.error.size() + 16 * job.spec.after.size();
  for (const auto* pairs : {&job.labels, &job.parameters}) {
    for (const auto& [key, value] : *pairs) {
      length += key.size() + value.size() + 6;
    }
  }
  return length;
}

/// A page that is being put together.
struct JobList {
  JobList(JobQuery query, const Store& store) : walk(std::move(query), store) {}

  JobWalk walk;
  std::size_t left = 0;
  std::size_t length = 0;
  JobsReply page;
  uid_t viewer = kNobody;
  Turns::Reply reply;
};

/// False when the page was answered.
bool continue_list(Desk& desk, JobReports& reports, JobList& list) {
  if (list.reply->gone()) {
    return false;
  }
  const Result<std::vector<JobRecord>> jobs =
      list.walk.next(desk.store, std::min(list.left, kListedAtOnce));
  if (!jobs) {
    desk.answer(std::move(list.reply), failed(jobs.error()));
    return false;
  }
  bool full = false;
  for (const JobRecord& record : *jobs) {
    if (list.length >= kPageBytes) {
      full = true;
      break;
    }
    list.length += length_of(record.description);
    list.page.jobs.push_back(desk.privacy.shown(reports.report(record), list.viewer));
    --list.left;
    if (record.phase == JobPhase::Queued) {
      reports.add_expected_start(list.page.jobs.back());
    }
  }
  full = full || (!list.walk.over() && (list.left == 0 || list.length >= kPageBytes));
  if (!full && !list.walk.over()) {
    return true;
  }
  if (full) {
    list.page.next = list.page.jobs.back().id;
  }
  desk.answer(std::move(list.reply), json(to_json(list.page)));
  return false;
}

}  // namespace

void list_jobs(Desk& desk, JobReports& reports, RoutedRequest asked) {
  const HttpRequest& request = asked.request;
  Result<JobFilter> filter = choose_listed_jobs(desk, request);
  if (!filter) {
    return desk.answer(std::move(asked.reply), failed(filter.error()));
  }
  JobQuery query;
  query.filter = std::move(*filter);
  const Result<std::int64_t> after =
      parse_integer(request.parameter("after").value_or("0"), "after");
  const Result<std::int64_t> limit =
      parse_integer(request.parameter("limit").value_or("100"), "limit");
  if (!after || !limit) {
    return desk.answer(std::move(asked.reply), failed(!after ? after.error() : limit.error()));
  }
  query.descending = request.parameter("descending").value_or("0") == "1";
  if (*after > 0) {
    query.after = JobCursor{JobId{static_cast<std::uint64_t>(*after)}, {}};
  }
  auto list = std::make_shared<JobList>(std::move(query), desk.store);
  list->left = static_cast<std::size_t>(std::clamp<std::int64_t>(*limit, 1, kMostOnAPage));
  list->viewer = asked.request.peer.uid;
  list->reply = std::move(asked.reply);
  desk.turns.in_pieces([&desk, &reports, list] { return continue_list(desk, reports, *list); },
                       kListInOneGo);
}

}  // namespace berth
