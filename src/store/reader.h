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

namespace berth {

class Reader {
 public:
  static Result<Reader> make(Database& database, Interner& interner);

  Result<JobRecord> job(JobId id, bool with_environment);
  Result<std::vector<StoredAttempt>> attempts(JobId job);
  Result<std::optional<Submission>> find_token(uid_t user, std::string_view token);
  Result<std::optional<std::string>> setting(std::string_view name);
  Result<std::vector<JournalEntry>> journal(std::uint64_t from, std::size_t limit);

  /// `few`: the live jobs are a small part of all.
  Result<void> for_each_live(bool few, const std::function<void(const LiveJob&)>& visit);

  Result<JobPage> list(const JobQuery& query);
  Result<Forgotten> find_forgettable(const ForgetQuery& query);

 private:
  Reader(Database& database, Interner& interner) : database_(&database), interner_(&interner) {}

  Result<std::string> shared(const Statement& row, int column);
  Result<StoredAttempt> read_attempt() const;
  Result<std::vector<std::string>> present_devices(const LiveJob& job);

  Database* database_;
  Interner* interner_;
  Statement job_;
  Statement attempts_;
  Statement setting_;
  Statement token_;
  Statement journal_;
};

}  // namespace berth
