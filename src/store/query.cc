// Lists. A query becomes one statement that walks the index which narrows most, in the order asked
// for, and stops when the page is full.
#include "store/query.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "store/fields.h"
#include "store/reader.h"
#include "store/rows.h"

namespace berth {
namespace {

constexpr std::uint64_t kLastId = std::numeric_limits<std::int64_t>::max();

/// In order, without overlaps.
std::vector<IdRange> tidy(std::vector<IdRange> ranges) {
  if (ranges.empty()) {
    return {{JobId{0}, JobId{kLastId}}};
  }
  std::sort(ranges.begin(), ranges.end(),
            [](const IdRange& a, const IdRange& b) { return a.first < b.first; });
  std::vector<IdRange> result;
  for (IdRange range : ranges) {
    range.last = std::min(range.last, JobId{kLastId});
    if (range.last < range.first) {
      continue;
    }
    if (!result.empty() && range.first.value <= result.back().last.value + 1) {
      result.back().last = std::max(result.back().last, range.last);
    } else {
      result.push_back(range);
    }
  }
  return result;
}

bool contains(const std::vector<IdRange>& ranges, JobId id) {
  return std::any_of(ranges.begin(), ranges.end(),
                     [&](const IdRange& range) { return range.first <= id && id <= range.last; });
}

std::string phase_list(const std::vector<JobPhase>& phases) {
  std::vector<int> numbers;
  numbers.reserve(phases.size());
  for (const JobPhase phase : phases) {
    numbers.push_back(static_cast<int>(phase));
  }
  return fmt::format("{}", fmt::join(numbers, ", "));
}

/// The conditions of a filter, with the numbers of shared contents filled in.
struct Conditions {
  std::string from = "jobs";
  std::string_view id = "id";  // the column by which the index that is walked is in order
  std::string where;           // starts with " AND" unless empty
  bool impossible = false;
};

class Planner {
 public:
  Planner(const JobQuery& query, Interner& interner) : query_(query), interner_(interner) {}

  /// Binds: ?1 and ?2 the bounds of ids (or of ends), ?3 and so on the names.
  Result<Conditions> plan() {
    const JobFilter& filter = query_.filter;
    for (const auto& [key, value] : filter.labels) {
      if (Result<void> done = add_label(key, value); !done) {
        return Failure(done.error());
      }
    }
    if (Result<void> done = add_shared("sweep", filter.sweep); !done) {
      return Failure(done.error());
    }
    if (Result<void> done = add_shared("project", filter.project); !done) {
      return Failure(done.error());
    }
    if (filter.user) {
      result_.where += fmt::format(" AND user = {}", *filter.user);
    }
    if (filter.only_running) {
      add_only_running(*filter.only_running);
    }
    for (std::size_t i = 0; i < filter.names.size(); ++i) {
      result_.where += fmt::format("{}name GLOB ?{}", i == 0 ? " AND (" : " OR ", i + 3);
    }
    result_.where += filter.names.empty() ? "" : ")";
    if (Result<void> done = add_named(); !done) {
      return Failure(done.error());
    }
    return result_;
  }

  /// Whether the index of states is the one to walk.
  bool by_state() const { return !narrowed_ && query_.order == JobOrder::ById; }

 private:
  /// A column that the planner of SQLite shall, or shall not, look up in its index.
  std::string walk(std::string_view column) {
    const bool first = !narrowed_ && query_.order == JobOrder::ById;
    narrowed_ = true;
    return fmt::format("{}{}", first ? "" : "+", column);
  }

  Result<void> add_shared(std::string_view column, const std::optional<std::string>& content) {
    if (!content) {
      return {};
    }
    if (content->empty()) {
      result_.where += fmt::format(" AND +{} IS NULL", column);
      return {};
    }
    const Result<std::optional<std::int64_t>> id = interner_.find(*content);
    if (!id) {
      return Failure(id.error());
    }
    result_.impossible = result_.impossible || !id->has_value();
    result_.where += fmt::format(" AND {} = {}", walk(column), id->value_or(0));
    return {};
  }

  void add_only_running(const std::vector<JobId>& jobs) {
    std::vector<std::uint64_t> numbers;
    for (const JobId job : jobs) {
      numbers.push_back(job.value);
    }
    result_.where += fmt::format(" AND (+state <> {} OR +id IN ({}))",
                                 static_cast<int>(JobPhase::Running), fmt::join(numbers, ", "));
  }

  /// Numbers or names, whichever a job has.
  Result<void> add_named() {
    const JobFilter& filter = query_.filter;
    constexpr std::size_t kMost = 500;  // SQLite takes no deeper conditions than twice that
    if (filter.or_named.empty()) {
      return {};
    }
    if (filter.ids.size() + filter.or_named.size() > kMost) {
      return fail(ErrorCode::Usage,
                  fmt::format("numbers and names together may be {} at most", kMost));
    }
    std::vector<std::string> any;
    for (const IdRange& range : filter.ids) {
      any.push_back(fmt::format("id BETWEEN {} AND {}", range.first.value, range.last.value));
    }
    std::size_t bound = filter.names.size() + 3;
    for (const NamedJobs& named : filter.or_named) {
      std::string condition = fmt::format("name GLOB ?{}", bound++);
      if (named.project && named.project->empty()) {
        condition += " AND +project IS NULL";
      } else if (named.project) {
        const Result<std::optional<std::int64_t>> id = interner_.find(*named.project);
        if (!id) {
          return Failure(id.error());
        }
        condition += fmt::format(" AND +project = {}", id->value_or(-1));
      }
      any.push_back(std::move(condition));
    }
    result_.where += fmt::format(" AND (({}))", fmt::join(any, ") OR ("));
    return {};
  }

  Result<void> add_label(std::string_view key, std::string_view value) {
    const Result<std::optional<std::int64_t>> id = interner_.find(encode_label(key, value));
    if (!id) {
      return Failure(id.error());
    }
    result_.impossible = result_.impossible || !id->has_value();
    if (!narrowed_ && query_.order == JobOrder::ById) {
      narrowed_ = true;
      result_.from = "labels CROSS JOIN jobs ON id = job";
      result_.id = "job";
      result_.where += fmt::format(" AND label = {} AND job BETWEEN ?1 AND ?2", id->value_or(0));
    } else {
      result_.where +=
          fmt::format(" AND EXISTS (SELECT 1 FROM labels AS l WHERE l.label = {} AND l.job = id)",
                      id->value_or(0));
    }
    return {};
  }

  const JobQuery& query_;
  Interner& interner_;
  Conditions result_;
  bool narrowed_ = false;
};

/// Gives ids (and ends) in order. Several states are merged from the index, never sorted.
std::string statement_for(const JobQuery& query, const Conditions& conditions, bool by_state,
                          std::string_view columns = "id, ended") {
  const std::string_view direction = query.descending ? "DESC" : "ASC";
  if (query.order == JobOrder::ByEnd) {
    // ?1 is the end and ?2 the id of the last job of the page before.
    std::string states;
    if (!query.filter.phases.empty()) {
      states = fmt::format(" AND +state IN ({})", phase_list(query.filter.phases));
    }
    const char past = query.descending ? '<' : '>';
    return fmt::format(
        "SELECT {5} FROM {0} WHERE ended IS NOT NULL AND ended {1}= ?1 "
        "AND (ended {1} ?1 OR id {1} ?2){2}{3} ORDER BY ended {4}, id {4}",
        conditions.from, past, states, conditions.where, direction, columns);
  }
  const std::string head =
      fmt::format("SELECT {} FROM {} WHERE id BETWEEN ?1 AND ?2", columns, conditions.from);
  if (!by_state || query.filter.phases.empty()) {
    std::string states;
    if (!query.filter.phases.empty()) {
      states = fmt::format(" AND +state IN ({})", phase_list(query.filter.phases));
    }
    return fmt::format("{}{}{} ORDER BY {} {}", head, states, conditions.where, conditions.id,
                       direction);
  }
  std::vector<JobPhase> phases = query.filter.phases;
  std::sort(phases.begin(), phases.end());
  phases.erase(std::unique(phases.begin(), phases.end()), phases.end());
  std::vector<std::string> parts;
  parts.reserve(phases.size());
  for (const JobPhase phase : phases) {
    parts.push_back(
        fmt::format("{} AND state = {}{}", head, static_cast<int>(phase), conditions.where));
  }
  return fmt::format("{} ORDER BY id {}", fmt::join(parts, " UNION ALL "), direction);
}

void bind_names(Statement& statement, const JobFilter& filter) {
  for (std::size_t i = 0; i < filter.names.size(); ++i) {
    statement.bind(static_cast<int>(i) + 3, std::string_view(filter.names[i]));
  }
  for (std::size_t i = 0; i < filter.or_named.size(); ++i) {
    statement.bind(static_cast<int>(filter.names.size() + i) + 3,
                   std::string_view(filter.or_named[i].name));
  }
}

constexpr std::string_view kScanColumns =
    "id, state, user, priority, submitted, started, ended, peak, project, sweep, name";

ScannedJob read_scanned(const Statement& row, bool commands) {
  ScannedJob job;
  job.id = JobId{static_cast<std::uint64_t>(row.integer(0))};
  job.phase = static_cast<JobPhase>(row.integer(1));
  job.user = static_cast<uid_t>(row.integer(2));
  job.priority = static_cast<std::int32_t>(row.integer(3));
  job.submitted = Time(Duration(row.integer(4)));
  job.started = time_or(row, 5, kNever);
  job.ended = time_or(row, 6, kNever);
  job.peak = Bytes{row.integer(7)};
  job.project = row.integer(8);
  job.sweep = row.integer(9);
  job.name = row.bytes(10);
  job.command = commands ? row.bytes(11) : std::string_view{};
  return job;
}

}  // namespace

/// The numbers to look at, in the order of the list.
std::vector<IdRange> Reader::ranges_for(const JobQuery& query) const {
  const bool numbers_alone = query.filter.or_named.empty();
  std::vector<IdRange> ranges =
      without_staged(tidy(numbers_alone ? query.filter.ids : std::vector<IdRange>{}), *staging_);
  if (query.numbers) {
    for (IdRange& range : ranges) {
      range.first = std::max(range.first, query.numbers->first);
      range.last = std::min(range.last, query.numbers->last);
    }
    std::erase_if(ranges, [](const IdRange& range) { return range.last < range.first; });
  }
  if (query.descending) {
    std::reverse(ranges.begin(), ranges.end());
  }
  return ranges;
}

Result<void> Reader::scan(const ScanQuery& wanted, const VisitScanned& visit) {
  JobQuery query;
  query.filter = wanted.filter;
  query.descending = wanted.descending;
  Planner planner(query, *interner_);
  const Result<Conditions> conditions = planner.plan();
  if (!conditions) {
    return Failure(conditions.error());
  }
  if (conditions->impossible) {
    return {};
  }
  std::string columns(kScanColumns);
  if (wanted.commands) {
    columns += ", (SELECT command FROM details WHERE details.job = jobs.id)";
  }
  Result<Statement> rows =
      database_->prepare(statement_for(query, *conditions, planner.by_state(), columns));
  if (!rows) {
    return Failure(rows.error());
  }
  query.numbers = wanted.numbers;
  std::optional<TimeLimit> limit;
  if (wanted.patience != kForever) {
    limit.emplace(*database_, wanted.patience);
  }
  for (const IdRange& range : ranges_for(query)) {
    rows->start(range.first.value, range.last.value);
    bind_names(*rows, query.filter);
    for (;;) {
      const Result<bool> row = rows->step();
      if (!row) {
        return Failure(row.error());
      }
      if (!*row) {
        break;
      }
      if (!valid_phase(rows->integer(1))) {
        return damaged_job(rows->integer(0));
      }
      visit(read_scanned(*rows, wanted.commands));
    }
  }
  return {};
}

Result<JobPage> Reader::list(const JobQuery& query) {
  JobPage page;
  Planner planner(query, *interner_);
  const Result<Conditions> conditions = planner.plan();
  if (!conditions) {
    return Failure(conditions.error());
  }
  const std::vector<IdRange> ranges = ranges_for(query);
  if (conditions->impossible || ranges.empty() || query.limit == 0) {
    return page;
  }
  Result<Statement> ids = database_->prepare(statement_for(query, *conditions, planner.by_state()));
  if (!ids) {
    return Failure(ids.error());
  }
  const bool by_end = query.order == JobOrder::ByEnd;
  std::optional<TimeLimit> limit;
  if (query.patience != kForever) {
    limit.emplace(*database_, query.patience);
  }
  for (const IdRange& range : ranges) {
    std::int64_t low = static_cast<std::int64_t>(range.first.value);
    std::int64_t high = static_cast<std::int64_t>(range.last.value);
    if (by_end) {
      const auto most = std::numeric_limits<std::int64_t>::max();
      const auto least = std::numeric_limits<std::int64_t>::min();
      low = query.after ? query.after->ended.time_since_epoch().count()
                        : (query.descending ? most : least);
      high = query.after ? static_cast<std::int64_t>(query.after->id.value)
                         : (query.descending ? most : least);
    } else if (query.after && query.descending) {
      high = std::min(high, static_cast<std::int64_t>(query.after->id.value) - 1);
    } else if (query.after) {
      const auto before = static_cast<std::int64_t>(query.after->id.value);
      if (before >= high) {
        continue;  // none of this range follows; and no number follows the highest
      }
      low = std::max(low, before + 1);
    }
    ids->start(low, high);
    bind_names(*ids, query.filter);
    for (;;) {
      const Result<bool> row = ids->step();
      if (!row) {
        return Failure(row.error());
      }
      if (!*row) {
        break;
      }
      const JobId id{static_cast<std::uint64_t>(ids->integer(0))};
      if (by_end && !contains(ranges, id)) {
        continue;
      }
      const JobCursor here{id, Time(Duration(ids->integer(1)))};
      Result<JobRecord> record = job(id, false);
      if (!record) {
        return Failure(record.error());
      }
      page.jobs.push_back(std::move(*record));
      if (page.jobs.size() == query.limit) {
        page.next = here;
        return page;
      }
    }
    if (by_end) {
      break;
    }
  }
  return page;
}

Result<Forgotten> Reader::find_forgettable(const ForgetQuery& query) {
  Result<Statement> rows = database_->prepare(
      "SELECT id, ended, state, user FROM jobs WHERE ended IS NOT NULL AND ended < ?1 AND ended >= "
      "?2 "
      "AND "
      "(ended > ?2 OR id > ?3) ORDER BY ended, id LIMIT ?4");
  if (!rows) {
    return Failure(rows.error());
  }
  Forgotten forgotten;
  JobCursor at = query.after.value_or(JobCursor{JobId{}, Time::min()});
  rows->start(query.ended_before.time_since_epoch().count(), at.ended.time_since_epoch().count(),
              at.id.value, query.limit);
  for (std::size_t looked = 0;; ++looked) {
    const Result<bool> row = rows->step();
    if (!row) {
      return Failure(row.error());
    }
    if (!*row) {
      if (looked == query.limit) {
        forgotten.next = at;
      }
      return forgotten;
    }
    at = {JobId{static_cast<std::uint64_t>(rows->integer(0))}, Time(Duration(rows->integer(1)))};
    if (!valid_phase(rows->integer(2))) {
      return damaged_job(rows->integer(0));
    }
    const auto phase = static_cast<JobPhase>(rows->integer(2));
    const bool chosen = query.phases.empty() || std::find(query.phases.begin(), query.phases.end(),
                                                          phase) != query.phases.end();
    if (is_live(phase) || !chosen) {
      continue;
    }
    forgotten.jobs.push_back(at.id);
    const Result<std::vector<StoredAttempt>> all =
        attempts(at.id, std::numeric_limits<std::size_t>::max());
    if (!all) {
      return Failure(all.error());
    }
    for (const StoredAttempt& attempt : *all) {
      forgotten.attempts.push_back({at.id, attempt.attempt, static_cast<uid_t>(rows->integer(3))});
    }
  }
}

}  // namespace berth
