#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <queue>

#include "base/units.h"
#include "daemon/handlers/jobs.h"
#include "daemon/job_choice.h"
#include "daemon/queue_order.h"
#include "daemon/scans/job_scan.h"
#include "daemon/search.h"

namespace berth {
namespace {

enum class Column { Id, Name, State, Priority, Submitted, Started, Ended, Duration, Peak, Queue };
constexpr std::array<std::string_view, 10> kColumns = {"id",        "name",    "state", "priority",
                                                       "submitted", "started", "ended", "duration",
                                                       "peak",      "queue"};

/// Sorted at once; the blocks are merged when all are there.
constexpr std::size_t kBlock = 1024;
constexpr int kMergedAtOnce = 200;

Result<Column> parse_column(std::string_view text) {
  const auto found = std::find(kColumns.begin(), kColumns.end(), text);
  if (found == kColumns.end()) {
    return fail(ErrorCode::Usage, fmt::format("jobs cannot be sorted by '{}': say {}", text,
                                              fmt::join(kColumns, ", ")));
  }
  return static_cast<Column>(found - kColumns.begin());
}

struct Entry {
  bool absent = false;  // has no such value: last, whatever the direction
  int group = 0;        // compared before the number
  std::int64_t number = 0;
  std::string text;
  JobId id;
};

struct IdList {
  Column column = Column::Id;
  bool descending = false;
  std::uint64_t limit = 0;  // 0: none
  SearchText search;
  uid_t viewer = 0;
  std::map<std::int64_t, bool> found_in;  // whether a project or sweep has the text
  IdsReplyWriter runs;
  std::map<std::string_view, std::uint64_t> states;  // how many of the jobs are in which
  std::vector<std::vector<Entry>> blocks;
  Turns::Reply reply;

  /// Whether `a` comes before `b`.
  bool before(const Entry& a, const Entry& b) const {
    if (a.absent != b.absent) {
      return b.absent;
    }
    if (a.group != b.group) {
      return (a.group < b.group) != descending;
    }
    if (a.number != b.number) {
      return (a.number < b.number) != descending;
    }
    if (const int order = a.text.compare(b.text); order != 0) {
      return (order < 0) != descending;
    }
    const bool newest_first = column == Column::Queue && a.group == QueueOrder::kEnded;
    return (a.id < b.id) != (descending != newest_first);
  }

  bool full() const { return limit != 0 && runs.size() >= limit; }

  void sort_last() {
    if (!blocks.empty()) {
      std::sort(blocks.back().begin(), blocks.back().end(),
                [this](const Entry& a, const Entry& b) { return before(a, b); });
    }
  }

  void add(Entry entry) {
    if (blocks.empty() || blocks.back().size() == kBlock) {
      sort_last();
      blocks.emplace_back().reserve(kBlock);
    }
    blocks.back().push_back(std::move(entry));
  }
};

/// The time of a job that runs, or has run, counts up to `now`.
Entry entry_of(const ScannedJob& job, Column column, Bytes peak, Time now) {
  Entry entry;
  entry.id = job.id;
  const auto time = [&](Time value) {
    entry.absent = value == kNever;
    entry.number = value.time_since_epoch().count();
  };
  switch (column) {
    case Column::Id:
      break;
    case Column::Name:
      entry.absent = job.name.empty();
      entry.text = job.name;
      break;
    case Column::State:
      entry.number = static_cast<std::int64_t>(job.phase);
      break;
    case Column::Priority:
      entry.number = job.priority;
      break;
    case Column::Submitted:
      time(job.submitted);
      break;
    case Column::Started:
      time(job.started);
      break;
    case Column::Ended:
      time(job.ended);
      break;
    case Column::Duration:
      entry.absent = job.started == kNever;
      entry.number = entry.absent ? 0 : (std::min(job.ended, now) - job.started).count();
      break;
    case Column::Peak:
      entry.absent = peak == Bytes{};
      entry.number = peak.count;
      break;
    case Column::Queue:
      break;  // see QueueOrder
  }
  return entry;
}

bool matches(Desk& desk, IdList& list, const ScannedJob& job) {
  const SearchText& search = list.search;
  if (search.empty() || search.in(job.name) || search.in(job.command) ||
      search.is_number(job.id.value)) {
    return true;
  }
  const auto in_shared = [&](std::int64_t text) {
    if (text == 0) {
      return false;
    }
    const auto [known, is_new] = list.found_in.try_emplace(text, false);
    if (is_new) {
      const Result<std::string> content = desk.store.walks().shared_text(text);
      known->second = content && search.in(*content);
    }
    return known->second;
  };
  return in_shared(job.project) || in_shared(job.sweep);
}

/// Puts the sorted blocks together and answers.
void merge_ids(Desk& desk, const std::shared_ptr<IdList>& list) {
  list->sort_last();
  using Place = std::pair<std::size_t, std::size_t>;  // block, and where in it
  const auto after = [list](const Place& a, const Place& b) {
    return list->before(list->blocks[b.first][b.second], list->blocks[a.first][a.second]);
  };
  std::priority_queue<Place, std::vector<Place>, decltype(after)> heads(after);
  for (std::size_t i = 0; i < list->blocks.size(); ++i) {
    heads.push({i, 0});
  }
  desk.turns.in_pieces([&desk, list, heads = std::move(heads)]() mutable {
    if (list->reply->gone()) {
      return false;
    }
    for (int i = 0; i < kMergedAtOnce && !heads.empty() && !list->full(); ++i) {
      const auto [block, place] = heads.top();
      heads.pop();
      list->runs.add(list->blocks[block][place].id);
      if (place + 1 < list->blocks[block].size()) {
        heads.push({block, place + 1});
      } else {
        std::vector<Entry>().swap(list->blocks[block]);
      }
    }
    if (!heads.empty() && !list->full()) {
      return true;
    }
    desk.answer(std::move(list->reply), json(list->runs.take(list->states)));
    return false;
  });
}

/// The order of `berth queue`, found without a look at every job. The counts are those that the
/// store keeps.
void answer_at_once(Desk& desk, QueueOrder order, const JobFilter& filter,
                    const std::shared_ptr<IdList>& list) {
  const Result<std::vector<JobId>> first =
      order.first(filter.phases, static_cast<std::size_t>(list->limit));
  if (!first) {
    return desk.answer(std::move(list->reply), failed(first.error()));
  }
  for (const JobId id : *first) {
    list->runs.add(id);
  }
  const PhaseCounts& counts = desk.store.jobs().counts();
  for (std::size_t i = 0; i < kPhases; ++i) {
    const auto phase = static_cast<JobPhase>(i);
    const bool chosen =
        filter.phases.empty() ||
        std::find(filter.phases.begin(), filter.phases.end(), phase) != filter.phases.end();
    if (chosen && counts[i] > 0) {
      list->states.emplace(phase_name(phase), counts[i]);
    }
  }
  desk.answer(std::move(list->reply), json(list->runs.take(list->states)));
}

}  // namespace

void list_job_ids(Desk& desk, JobReports& reports, RoutedRequest asked) {
  const HttpRequest& request = asked.request;
  Result<JobFilter> filter = choose_listed_jobs(desk, request);
  const Result<Column> column = parse_column(request.parameter("sort").value_or("id"));
  const Result<std::int64_t> limit =
      parse_integer(request.parameter("limit").value_or("0"), "limit");
  if (!filter || !column || !limit) {
    return desk.answer(std::move(asked.reply), failed(!filter   ? filter.error()
                                                      : !column ? column.error()
                                                                : limit.error()));
  }
  if (*limit < 0) {
    return desk.answer(std::move(asked.reply),
                       failed(Error{ErrorCode::Usage, "limit must be 0 or more"}));
  }
  if (request.parameter("alone").value_or("0") == "1") {
    filter->sweep = "";
  }
  auto list = std::make_shared<IdList>();
  list->column = *column;
  list->descending = request.parameter("descending").value_or("0") == "1";
  list->search = SearchText(request.parameter("search").value_or(""));
  list->limit = static_cast<std::uint64_t>(*limit);
  list->viewer = request.peer.uid;
  list->reply = std::move(asked.reply);
  if (list->column == Column::Queue && !list->descending && list->search.empty() &&
      list->limit > 0 && list->limit <= QueueOrder::kMostAtOnce && QueueOrder::quick(*filter)) {
    return answer_at_once(desk, QueueOrder(desk, reports), *filter, list);
  }
  JobScan scan;
  // What cannot be seen can neither be searched nor be told by the order.
  const bool looks = !list->search.empty();
  scan.filter =
      looks ? desk.privacy.own_only(std::move(*filter), list->viewer) : std::move(*filter);
  scan.descending = *column == Column::Id && list->descending;
  scan.commands = !list->search.empty();
  scan.abandoned = [list] { return list->reply->gone(); };
  const Time at = desk.now();
  scan_jobs(
      desk, std::move(scan),
      [&desk, &reports, list, at](const ScannedJob& job) {
        if (!matches(desk, *list, job)) {
          return;
        }
        ++list->states[phase_name(job.phase)];
        const bool hidden = !desk.privacy.sees(list->viewer, job.user) &&
                            (list->column == Column::Name || list->column == Column::Peak);
        if (hidden) {
          list->add({true, 0, 0, "", job.id});
        } else if (list->column == Column::Id && !list->full()) {
          list->runs.add(job.id);
        } else if (list->column == Column::Queue) {
          const auto [group, number] =
              QueueOrder(desk, reports).place(job.id, job.phase, job.ended);
          list->add({false, group, number, "", job.id});
        } else if (list->column != Column::Id) {
          list->add(entry_of(
              job, list->column,
              job.phase == JobPhase::Running ? desk.driver.memory().watch().peak(job.id) : job.peak,
              at));
        }
      },
      [&desk, list](const Result<void>& read) {
        if (!read) {
          return desk.answer(std::move(list->reply), failed(read.error()));
        }
        merge_ids(desk, list);
      });
}

}  // namespace berth
