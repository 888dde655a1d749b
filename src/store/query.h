// Queries: which jobs to list, and in which order. Pages are found by a cursor, so that a page
// costs the same wherever it is, and a job that stays and matches is seen exactly once however
// others change between two pages.
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
  std::optional<IdRange> numbers;  // ById: looks at no others, matching or not
  /// Whoever asks has others to serve: what takes longer ends with an error of the kind Timeout.
  Duration patience = kForever;
};

struct JobPage {
  std::vector<JobRecord> jobs;    // without their environments
  std::optional<JobCursor> next;  // absent: that was all
};

/// A job as a walk over many shows it: what can be read without looking further.
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

/// A part of a walk over the jobs: those that match and have one of these numbers.
struct ScanQuery {
  const JobFilter& filter;
  IdRange numbers;
  bool descending = false;
  bool commands = false;
  Duration patience = kForever;  // as in JobQuery; what was visited until then was visited
};

/// Where a walk over ended attempts, the newest end first, has come to.
struct AttemptCursor {
  Time ended = kNever;
  Time begun = kNever;
  JobId job;
  std::uint16_t attempt = 0;
};

/// An attempt with what a chart says of its job.
struct EndedAttempt {
  StoredAttempt attempt;  // without its paths
  std::string name;
  std::int64_t project = 0;  // as ScannedJob has them
  std::int64_t sweep = 0;
  uid_t user = 0;
};

/// Where a walk over ended jobs, the newest end first, has come to.
using EndCursor = JobCursor;

/// Where a walk over the labels has come to.
struct LabelCursor {
  std::int64_t label = 0;
  JobId job;
};

/// Which ended jobs to forget.
struct ForgetQuery {
  Time ended_before = kNever;
  std::vector<JobPhase> phases;  // empty: every way to end
  std::size_t limit = 1000;      // that are looked at, the oldest first, so that nobody waits long
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
  std::vector<ForgottenAttempt> attempts;  // of them; the caller removes their files
  std::optional<JobCursor> next;           // absent: that was all
};

}  // namespace berth
