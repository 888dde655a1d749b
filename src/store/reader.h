// Reader: records from the tables.
#pragma once

#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "store/interner.h"
#include "store/journal.h"
#include "store/query.h"
#include "store/sqlite.h"
#include "store/staged.h"

namespace berth {

class Reader {
 public:
  /// `staging`: whom nobody is to see, as it is at each call.
  static Result<Reader> make(Database& database, Interner& interner, const Staging& staging);

  Result<JobRecord> job(JobId id, bool with_environment);
  Result<JobPhase> phase(JobId id);
  Result<std::vector<StoredAttempt>> attempts(JobId job, std::size_t newest);
  Result<std::optional<StoredAttempt>> attempt(JobId job, std::uint16_t number);
  Result<std::optional<Submission>> find_token(uid_t user, std::string_view token);
  Result<std::optional<std::string>> setting(std::string_view name);
  Result<std::vector<JournalPart>> journal_parts();
  Result<std::vector<JournalEntry>> journal(std::uint64_t from, std::size_t limit);

  /// `few`: the live jobs are a small part of all.
  Result<void> for_each_live(bool few, const std::function<void(const LiveJob&)>& visit);

  Result<JobPage> list(const JobQuery& query);
  using VisitScanned = std::function<void(const ScannedJob&)>;
  Result<void> scan(const ScanQuery& query, const VisitScanned& visit);

  // Walks, the newest first except for labels (reader_walks.cc). Each looks at up to `most` rows;
  // false when that was all.
  Result<bool> walk_attempts(AttemptCursor& at, Time ended_from, Time begun_to, std::size_t most,
                             const std::function<void(const EndedAttempt&)>& visit);
  Result<bool> walk_ends(EndCursor& at, Time from, std::size_t most,
                         const std::function<void(JobPhase)>& visit);
  Result<bool> walk_labels(LabelCursor& at, std::size_t most,
                           const std::function<void(std::int64_t label)>& visit);
  Result<std::string> shared_text(std::int64_t id) { return interner_->content(id); }

  Result<Forgotten> find_forgettable(const ForgetQuery& query);

 private:
  Reader(Database& database, Interner& interner, const Staging& staging)
      : database_(&database), interner_(&interner), staging_(&staging) {}

  Result<void> prepare_walks();
  Result<EndedAttempt> ended_attempt(JobId job, std::uint16_t attempt);
  Result<std::string> shared(const Statement& row, int column);
  static Result<StoredAttempt> read_attempt(const Statement& row, JobId job);
  std::vector<IdRange> ranges_for(const JobQuery& query) const;
  Result<std::vector<std::string>> present_devices(const LiveJob& job);
  Result<void> read_outputs(const Statement& row, LiveJob& job);

  Database* database_;
  Interner* interner_;
  const Staging* staging_;
  Statement job_;
  Statement phase_;
  Statement attempts_;
  Statement attempt_;
  Statement setting_;
  Statement token_;
  Statement journal_;
  Statement attempt_ends_;
  Statement ended_attempt_;
  Statement job_ends_;
  Statement labels_;
};

}  // namespace berth
