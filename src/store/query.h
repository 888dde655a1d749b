// Queries: which jobs to list, and in which order. A cursor finds the pages, so a page costs the
// same wherever it is. A job that stays and matches is seen exactly once, however other jobs change
// between two pages.
#pragma once

#include <optional>
#include <string>
#include <string_view>
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
  std::optional<std::vector<JobId>> only_running;           // of the running jobs only these
  std::vector<IdRange> ids;                                 // any of them; empty: all
  std::vector<NamedJobs> or_named;                          // these, too, besides `ids`
  std::vector<std::string> names;                           // globs (* ? [a-z]); empty: any
  std::optional<std::string> project;                       // exact; "" for jobs without one
  std::vector<std::pair<std::string, std::string>> labels;  // all of them
  std::optional<uid_t> user;
  std::optional<std::string> sweep;  // exact; "" for jobs without one
};

enum class JobOrder {
  ById,
  ByEnd,  // only ended jobs
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
  std::optional<IdRange> numbers;  // ById: looks at no other jobs, matching or not
  /// For a caller with other clients to serve: a query that takes longer ends with an error of the
  /// kind Timeout.
  Duration patience = kForever;
};

struct JobPage {
  std::vector<JobRecord> jobs;    // without their environments
  std::optional<JobCursor> next;  // absent: that was all
};

/// A job as a walk over many jobs shows it: what can be read without looking further.
struct ScannedJob {
  JobId id;
  JobPhase phase = JobPhase::Queued;
  uid_t user = 0;
  std::int32_t priority = 0;
  Time submitted{};
  Time started = kNever;
  Time ended = kNever;
  Bytes peak;
  std::int64_t project = 0;  // 0: none; else see Walks::shared_text()
  std::int64_t sweep = 0;    // likewise
  std::string_view name;     // valid during the visit
  std::string_view command;  // likewise; empty unless asked for
};

/// A part of a walk over the jobs: the matching jobs with one of these numbers.
struct ScanQuery {
  const JobFilter& filter;
  IdRange numbers;
  bool descending = false;
  bool commands = false;
  Duration patience = kForever;  // as in JobQuery; visits until then stand
};

/// The position of a walk over ended attempts, the newest end first.
struct AttemptCursor {
  Time ended = kNever;
  Time begun = kNever;
  JobId job;
  std::uint16_t attempt = 0;
};

/// An attempt with the facts about its job that a chart shows.
struct EndedAttempt {
  StoredAttempt attempt;  // without its paths
  std::string name;
  std::int64_t project = 0;  // as in ScannedJob
  std::int64_t sweep = 0;
  uid_t user = 0;
};

/// The position of a walk over ended jobs, the newest end first.
using EndCursor = JobCursor;

/// The position of a walk over the labels.
struct LabelCursor {
  std::int64_t label = 0;
  JobId job;
};

/// Which ended jobs to forget.
struct ForgetQuery {
  Time ended_before = kNever;
  std::vector<JobPhase> phases;  // empty: every way to end
  std::size_t limit = 1000;      // jobs to look at, the oldest first, so that no client waits long
  std::optional<JobCursor> after = {};  // absent: from the oldest on
};

struct ForgottenAttempt {
  JobId job;
  std::uint16_t attempt = 0;
  uid_t user = 0;  // whose job it was
  bool operator==(const ForgottenAttempt&) const = default;
};

struct Forgotten {
  std::vector<JobId> jobs;
  std::vector<ForgottenAttempt> attempts;  // of these jobs; the caller removes their files
  std::optional<JobCursor> next;           // absent: that was all
};

}  // namespace berth
