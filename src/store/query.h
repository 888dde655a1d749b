// Queries: which jobs to list, and in which order. Pages are found by a cursor, so that a page
// costs the same wherever it is, and a job that stays and matches is seen exactly once however
// others change between two pages.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "store/records.h"

namespace berth {

struct IdRange {
  JobId first;
  JobId last;  // inclusive
};

struct NamedJobs {
  std::optional<std::string> project;  // exact; absent: any
  std::string name;                    // a glob
};

/// A job must match every part that is given.
struct JobFilter {
  std::vector<JobPhase> phases;                             // any of them; empty: all
  std::vector<IdRange> ids;                                 // any of them; empty: all
  std::vector<NamedJobs> or_named;                          // those, too, beside `ids`
  std::vector<std::string> names;                           // globs (* ? [a-z]); empty: any
  std::optional<std::string> project;                       // exact; "" for those without
  std::vector<std::pair<std::string, std::string>> labels;  // all of them
  std::optional<uid_t> user;
  std::optional<std::string> sweep;  // exact; "" for those without
};

enum class JobOrder {
  ById,
  ByEnd,  // only those that have ended
};

/// Where a page stopped.
struct JobCursor {
  JobId id;
  Time ended{};  // used ByEnd only
};

struct JobQuery {
  JobFilter filter;
  JobOrder order = JobOrder::ById;
  bool descending = false;         // the newest first
  std::optional<JobCursor> after;  // absent: from the start
  std::size_t limit = 100;
};

struct JobPage {
  std::vector<JobRecord> jobs;    // without their environments
  std::optional<JobCursor> next;  // absent: that was all
};

/// Which ended jobs to forget.
struct ForgetQuery {
  Time ended_before = kNever;
  std::vector<JobPhase> phases;  // empty: every way to end
  std::size_t limit = 1000;      // at once, the oldest first, so that nobody waits long
};

struct Forgotten {
  std::vector<JobId> jobs;
  std::vector<std::string> logs;  // files that belonged to them; the caller removes them
};

}  // namespace berth
