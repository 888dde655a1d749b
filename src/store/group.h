// Group: the changes since the database's own last commit, applied to an open transaction of it and
// remembered until that is committed. What the group commits goes to the redo log, and to the
// tables only when the log is full. When the disk fails, SQLite drops the transaction; the group
// can then apply its changes again.
#pragma once

#include <deque>
#include <optional>

#include "store/redo_log.h"
#include "store/writer.h"

namespace berth {

class Group {
 public:
  Group(Database& database, Writer& writer, RedoLog log)
      : database_(database),
        writer_(writer),
        log_(std::move(log)),
        committed_(writer.counters()),
        committed_size_(size_of(database)),
        logged_number_(committed_.redone) {}

  /// Takes up what is in the log and not in the tables. To be called first.
  Result<void> recover();

  /// An error only when the change itself is wrong; it is then not part of the group. What the disk
  /// refuses is kept, and commit() tells.
  Result<void> add(Change change);

  /// All or nothing. After an error the changes are still here, to be committed later.
  Result<void> commit();
  /// Drops what was added since the last commit.
  void rollback();
  /// Puts what was committed into the tables; to be called when nothing is left to commit. If that
  /// fails, it is still in the log.
  Result<void> settle();
  /// The bytes that the database took at its own last commit.
  std::int64_t committed_size() const { return committed_size_; }
  /// See Store::give_back().
  Result<bool> shrink();
  bool has_changes() const { return changes_.size() != logged_; }
  /// The last call: settles, and leaves an empty log where the tables have everything.
  void close();

 private:
  static std::int64_t size_of(Database& database);
  Result<void> begin();
  Result<void> apply_all();
  Result<void> try_settle();
  void abandon();

  Database& database_;
  Writer& writer_;
  RedoLog log_;
  Counters committed_;
  std::int64_t committed_size_;
  std::uint64_t logged_number_;  // of the newest entry of the log
  std::deque<Change> changes_;
  std::size_t logged_ = 0;                  // that many of them are in the log
  std::size_t rows_ = 0;                    // that they change, about
  std::size_t shrunk_ = 0;                  // pages given back in the open transaction
  std::optional<Transaction> transaction_;  // absent: the changes are not applied at present
};

}  // namespace berth
