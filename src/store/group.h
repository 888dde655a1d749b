// Group: the changes since the last commit, applied to an open transaction and remembered until
// they are durable. When the disk fails, SQLite drops the transaction; the group can then apply its
// changes again.
#pragma once

#include <deque>
#include <optional>

#include "store/writer.h"

namespace berth {

class Group {
 public:
  explicit Group(Database& database, Writer& writer)
      : database_(database), writer_(writer), committed_(writer.counters()) {}

  /// An error only when the change itself is wrong; it is then not part of the group. What the disk
  /// refuses is kept, and commit() tells.
  Result<void> add(Change change);

  /// All or nothing. After an error the changes are still here, to be committed later.
  Result<void> commit();
  void rollback();

  bool empty() const { return changes_.empty(); }

 private:
  Result<void> begin();
  Result<void> apply_all();
  Result<void> try_commit();
  void abandon();

  Database& database_;
  Writer& writer_;
  Counters committed_;
  std::deque<Change> changes_;
  std::optional<Transaction> transaction_;  // absent: the changes are not applied at present
};

}  // namespace berth
